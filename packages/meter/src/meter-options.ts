import type { Duration, Policy, Store } from '@sluice/core';
import {
  checkDeadline,
  checkFunction,
  checkName,
  checkOptions,
  describe,
  isRecord,
  toMicros,
} from '@sluice/core/internal';
import type { Denial } from './errors.js';

/** What becomes of a hold that is not renewed: `keep` counts the estimate as used, `refund` gives it back. */
export type Lapse = 'keep' | 'refund';

/** Whose budget: a key, for all axes or for some of them. */
export type Scope<Axes extends string = string> =
  | string
  | { readonly key: string; readonly axes?: readonly Axes[] };

/** The options of `meter`. */
export interface MeterOptions<Who, Axes extends string> {
  /** In keys and errors. Letters, digits and `. _ - : / @ #`. */
  readonly name: string;
  /** Where budgets are counted. A store that you pass is yours to close. */
  readonly store: Store;
  /**
   * The limits by name: each axis with a policy. Amounts are whole numbers, so count dollars in millionths. An axis with `concurrency`
   * limits what runs at once.
   */
  readonly axes: Readonly<Record<Axes, Policy>>;
  /** The keys that a caller's amounts count for, each with all axes or some. Default: the caller itself, which is then a text. */
  readonly scopes?: ((who: Who) => readonly Scope<NoInfer<Axes>>[]) | undefined;
  /** Axes that report and never deny. */
  readonly soft?: readonly NoInfer<Axes>[] | undefined;
  /** Called when a soft axis has gone beyond its limit by a hold. An error that it throws rejects the call; a new hold is then given back. */
  readonly onSoftLimit?: ((denial: Denial, who: Who) => void) | undefined;
  /** How long a hold lasts unless it is renewed: `'1s'` to `'1d'`. Default `'30s'`. */
  readonly ttl?: Duration | undefined;
  /** What becomes of a hold whose process has died. Default `'keep'`. */
  readonly lapse?: Lapse | undefined;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string | undefined;
  /** How long the answer of a remote store may take; default 100 ms, of a file 1 s. */
  readonly deadline?: Duration | undefined;
}

const OPTIONS = [
  'name',
  'store',
  'axes',
  'scopes',
  'soft',
  'onSoftLimit',
  'ttl',
  'lapse',
  'keyPrefix',
  'deadline',
] as const satisfies readonly (keyof MeterOptions<unknown, string>)[];

/** The options of one hold. */
export interface HoldOptions {
  /** Names the hold, among the holds of the same scopes. Default: a random one. */
  readonly id?: string | undefined;
  /** Default: the meter's. */
  readonly ttl?: Duration | undefined;
  /** Default: the meter's. */
  readonly lapse?: Lapse | undefined;
}

/** µs. */
const SHORTEST = 1_000_000;
const LONGEST = 86_400_000_000;
/** Each hold reads two keys for each axis. */
const MOST_AXES = 20;

export function checkMeterOptions<Who, Axes extends string>(options: MeterOptions<Who, Axes>) {
  checkOptions('meter', options, OPTIONS);
  const { name, store, axes, scopes, soft = [], onSoftLimit, ttl = '30s', lapse = 'keep' } = options;
  const { keyPrefix = 'sluice' } = options;
  checkName('meter: name', name);
  checkName('meter: keyPrefix', keyPrefix);
  if (typeof store?.decide !== 'function')
    throw new TypeError(
      `meter: store must be memoryStore(), redisStore(…) or another store, not ${describe(store)}`,
    );
  const names = (isRecord(axes) ? Object.keys(axes) : []) as Axes[];
  if (names.length === 0 || names.length > MOST_AXES) {
    throw new TypeError(
      `meter: axes must be an object of 1 to ${MOST_AXES} policies by their names, such as { usd: fixedWindow({ … }) }, not ${describe(axes)}`,
    );
  }
  for (const axis of names) checkName('meter: the name of an axis', axis);
  if (scopes !== undefined) checkFunction('meter: scopes', scopes);
  if (onSoftLimit !== undefined) checkFunction('meter: onSoftLimit', onSoftLimit);
  if (!Array.isArray(soft)) throw new TypeError(`meter: soft must be a list of axes, not ${describe(soft)}`);
  for (const axis of soft) checkAxis('meter: soft', axis, names);
  return {
    ...{ name, store, axes, names, keyPrefix, onSoftLimit, soft: new Set<string>(soft) },
    scopes: scopes ?? ((who: Who) => [who as string]),
    ttl: checkTtl('meter: ttl', ttl),
    lapse: checkLapse('meter: lapse', lapse),
    deadline: checkDeadline('meter', options.deadline, store),
  };
}

export function checkAxis(what: string, axis: unknown, names: readonly string[]): void {
  if (names.includes(axis as string)) return;
  throw new TypeError(`${what} names the axis ${describe(axis)}; the meter has ${names.join(', ')}`);
}

/** @returns µs */
export function checkTtl(what: string, ttl: Duration): number {
  const micros = toMicros(what, ttl);
  if (micros >= SHORTEST && micros <= LONGEST) return micros;
  throw new RangeError(
    `${what} must be from '1s' to '1d', not ${describe(ttl)}: a living process renews its holds`,
  );
}

export function checkLapse(what: string, lapse: unknown): Lapse {
  if (lapse === 'keep' || lapse === 'refund') return lapse;
  throw new RangeError(`${what} must be 'keep' or 'refund', not ${describe(lapse)}`);
}
