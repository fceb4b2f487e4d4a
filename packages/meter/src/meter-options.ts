import type { Duration, Policy, Store } from '@sluice/core';
import {
  checkDeadline,
  checkFunction,
  checkName,
  checkOneOf,
  checkOptions,
  describe,
  isRecord,
  type MeterLimits,
  toMicros,
} from '@sluice/core/internal';
import type { Denial } from './errors.js';

/** What becomes of a hold that is not renewed: `keep` counts the estimate as used, `refund` gives it back. */
export type Lapse = 'keep' | 'refund';

/** Whose budget: a key, for all axes or for some of them, and its plan if the limits are in a document of rules with plans. */
export type Scope<Axes extends string = string> =
  | string
  | {
      readonly key: string;
      readonly axes?: readonly Axes[] | undefined;
      readonly plan?: string | undefined;
    };

/** Whatever has the limits of meters: the rules of a document. */
export interface MeterRules {
  readonly store: Store;
  readonly options: { readonly keyPrefix?: string | undefined; readonly deadline?: Duration | undefined };
  /** The limits in force. The same object until they change. @throws RangeError for a meter that they do not have */
  meter(name: string): MeterLimits;
}

/** What all meters have. */
interface MeterBaseOptions<Who, Axes extends string> {
  /** In keys and errors. Letters, digits and `. _ - : / @ #`. */
  readonly name: string;
  /** The keys that a caller's amounts count for, each with all axes or some. Default: the caller itself, which is then a text. */
  readonly scopes?: ((who: Who) => readonly Scope<NoInfer<Axes>>[]) | undefined;
  /** Called when a soft axis has gone beyond its limit by a hold. An error that it throws rejects the call; a new hold is then given back. */
  readonly onSoftLimit?: ((denial: Denial, who: Who) => void) | undefined;
  /** How long a hold lasts unless it is renewed: `'1s'` to `'1d'`. Default `'30s'`. */
  readonly ttl?: Duration | undefined;
  /** What becomes of a hold whose process has died. Default `'keep'`. */
  readonly lapse?: Lapse | undefined;
}

/** The options of `meter` with limits in a document of rules, which also has the store. */
export interface RuledMeterOptions<Who> extends MeterBaseOptions<Who, string> {
  /** The document: `new Rules(…)` or `await loadRules(…)` of `@sluice/rules`. A change of it is followed. */
  readonly rules: MeterRules;
}

/** The options of `meter` with limits in code. */
export interface MeterOptions<Who, Axes extends string> extends MeterBaseOptions<Who, Axes> {
  readonly rules?: undefined;
  /** Where budgets are counted. A store that you pass is yours to close. */
  readonly store: Store;
  /**
   * The limits by name: each axis with a policy. Amounts are whole numbers, so count dollars in millionths. An axis with `concurrency`
   * limits what runs at once.
   */
  readonly axes: Readonly<Record<Axes, Policy>>;
  /** Axes that report and never deny. */
  readonly soft?: readonly NoInfer<Axes>[] | undefined;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string | undefined;
  /** How long the answer of a remote store may take; default 100 ms, of a file 1 s. */
  readonly deadline?: Duration | undefined;
}

const BASE = ['name', 'scopes', 'onSoftLimit', 'ttl', 'lapse'] as const;
/** What a document of rules has in place of the options. */
const RULED = ['store', 'axes', 'soft', 'keyPrefix', 'deadline'] as const;
const OPTIONS = [...BASE, ...RULED, 'rules'] as const satisfies readonly (keyof MeterOptions<
  unknown,
  string
>)[];

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

export type AnyMeterOptions<Who, Axes extends string> = MeterOptions<Who, Axes> | RuledMeterOptions<Who>;

export function checkMeterOptions<Who, Axes extends string>(options: AnyMeterOptions<Who, Axes>) {
  checkOptions('meter', options, OPTIONS);
  const { name, scopes, onSoftLimit, ttl = '30s', lapse = 'keep' } = options;
  checkName('meter: name', name);
  if (scopes !== undefined) checkFunction('meter: scopes', scopes);
  if (onSoftLimit !== undefined) checkFunction('meter: onSoftLimit', onSoftLimit);
  return {
    ...(options.rules === undefined ? ofCode(options) : ofRules(options)),
    ...{ name, onSoftLimit },
    scopes: (scopes ?? ((who: Who) => [who as string])) as (who: Who) => readonly Scope[],
    ttl: checkTtl('meter: ttl', ttl),
    lapse: checkLapse('meter: lapse', lapse),
  };
}

function ofCode<Who, Axes extends string>(options: MeterOptions<Who, Axes>) {
  const { store, axes, soft = [], keyPrefix = 'sluice' } = options;
  checkName('meter: keyPrefix', keyPrefix);
  checkStore('meter: store', store);
  const names = isRecord(axes) ? Object.keys(axes) : [];
  if (names.length === 0 || names.length > MOST_AXES) {
    throw new TypeError(
      `meter: axes must be an object of 1 to ${MOST_AXES} policies by their names, such as { usd: fixedWindow({ … }) }, not ${describe(axes)}`,
    );
  }
  for (const axis of names) {
    checkName('meter: the name of an axis', axis);
    if (axis in {})
      throw new RangeError(`meter: an axis cannot be named ${axis}: every object of JavaScript has that`);
  }
  if (!Array.isArray(soft)) throw new TypeError(`meter: soft must be a list of axes, not ${describe(soft)}`);
  for (const axis of soft) checkAxis('meter: soft', axis, names);
  const limits: MeterLimits = { axes, soft };
  return {
    store,
    keyPrefix,
    limits: () => limits,
    mayHavePlans: false,
    deadline: checkDeadline('meter', options.deadline, store),
  };
}

function ofRules<Who>({ name, rules, ...options }: RuledMeterOptions<Who>) {
  const given: Partial<Record<string, unknown>> = { ...options };
  const spare = RULED.find((option) => given[option] !== undefined);
  if (spare !== undefined)
    throw new TypeError(`meter: '${spare}' belongs to the rules: leave it out beside rules`);
  if (typeof rules?.meter !== 'function')
    throw new TypeError(
      `meter: rules must be new Rules(…) or await loadRules(…) of @sluice/rules, not ${describe(rules)}`,
    );
  const { store, options: own } = rules;
  rules.meter(name); // a document without it is refused now
  return {
    store,
    keyPrefix: own.keyPrefix ?? 'sluice',
    limits: () => rules.meter(name),
    mayHavePlans: true,
    deadline: checkDeadline('meter', own.deadline, store),
  };
}

function checkStore(what: string, store: Store): void {
  if (typeof store?.decide === 'function') return;
  throw new TypeError(
    `${what} must be memoryStore(), redisStore(…) or another store, not ${describe(store)}`,
  );
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

export const checkLapse = (what: string, lapse: unknown): Lapse =>
  checkOneOf(what, lapse, ['keep', 'refund']);
