import { type Limit, type Part, type Policy, RateLimiter, type Store } from '@sluice/core';
import { describe, encodeKey, holdRule, keyPart, LAYOUT, MOST_HELD } from '@sluice/core/internal';
import type { WholeAmounts } from './amounts.js';
import { checkAxis, type Scope } from './meter-options.js';

/** One axis of one scope, as a call to the store has it. */
export interface HeldAxis {
  readonly scope: string;
  readonly axis: string;
  readonly key: string;
  /** Counts spent amounts. An axis of what runs at once has none. */
  readonly spent: Limit | undefined;
  /** Counts held amounts. */
  readonly held: Limit;
  readonly isSoft: boolean;
  /** The place of its first part, behind the record. */
  readonly place: number;
}

interface Axis {
  readonly spent: Limit | undefined;
  readonly held: Limit;
}

/** Each scope adds keys to every call. */
const MOST_SCOPES = 10;

/** The keys of a meter: of its axes, and of the records of its holds. */
export class MeterKeys {
  /** The limiter of each axis that does not limit what runs at once: to block keys, or to override their numbers. */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  readonly #axes = new Map<string, Axis>();
  readonly #record: Limit;
  readonly #soft: ReadonlySet<string>;

  constructor(
    readonly name: string,
    axes: Readonly<Record<string, Policy>>,
    store: Store,
    keyPrefix: string,
    soft: ReadonlySet<string>,
  ) {
    const limitOf = (of: string, most: number): Limit => ({
      rule: holdRule(most),
      prefix: `${keyPrefix}:${LAYOUT}:hd:${name}|${of}:{${name}}:`,
      suffix: '',
      name: of,
      policy: of,
    });
    const limiters: Record<string, RateLimiter> = {};
    for (const [axis, policy] of Object.entries(axes)) {
      if (policy?.algorithm === 'concurrency') {
        const { limit } = policy as Policy & { readonly limit: number };
        this.#axes.set(axis, { spent: undefined, held: limitOf(axis, limit) });
        continue;
      }
      const limiter = new RateLimiter({ name: `${name}:${axis}`, policy, store, hashTag: name, keyPrefix });
      const { limits } = RateLimiter.internals(limiter);
      limiters[axis] = limiter;
      this.#axes.set(axis, { spent: limits.parts('0', 1)[0]!.limit, held: limitOf(axis, MOST_HELD) });
    }
    this.limiters = limiters;
    this.#record = limitOf('holds:', 0);
    this.#soft = soft;
  }

  /** @throws TypeError for scopes that cannot count a call */
  axesOf(scopes: readonly Scope[]): HeldAxis[] {
    const where = `meter '${this.name}': scopes`;
    if (!Array.isArray(scopes) || scopes.length === 0 || scopes.length > MOST_SCOPES)
      throw new TypeError(
        `${where} must return a list of 1 to ${MOST_SCOPES} scopes, not ${describe(scopes)}`,
      );
    const all: HeldAxis[] = [];
    const seen = new Set<string>();
    let place = 0;
    for (const given of scopes as readonly Scope[]) {
      const { key, axes } =
        typeof given === 'object' && given !== null ? given : { key: given, axes: undefined };
      const scope = keyPart(key, `a key of ${where}`);
      if (seen.has(scope))
        throw new TypeError(`${where} names a key twice, but one call counts once for each key`);
      seen.add(scope);
      for (const axis of axes ?? this.#axes.keys()) {
        checkAxis(where, axis, [...this.#axes.keys()]);
        const { spent, held } = this.#axes.get(axis)!;
        const isSoft = this.#soft.has(axis);
        all.push({ scope, axis, key: encodeKey(scope), spent, held, isSoft, place });
        place += spent === undefined ? 1 : 2;
      }
    }
    if (all.length === 0) throw new TypeError(`${where} has no axis, so nothing would be counted`);
    return all;
  }

  /** The amount of an axis in a call that leaves it out: a call that runs is one call. */
  usualOf(axis: string): number {
    return this.#axes.get(axis)!.spent === undefined ? 1 : 0;
  }

  /** The parts of the axes. */
  partsOf(axes: readonly HeldAxis[], amounts: WholeAmounts): Part[] {
    return axes.flatMap(({ axis, key, spent, held, isSoft }) => {
      const common = { key, cost: amounts[axis] ?? 0, at: isSoft ? 1 : 0 };
      const kept = { limit: held, ...common };
      return spent === undefined ? [kept] : [{ limit: spent, ...common }, kept];
    });
  }

  /** The record of a hold. Holds of other scopes or axes have other records, so their ids are theirs. */
  recordOf(id: string, axes: readonly HeldAxis[], owner: number, kind: number): Part {
    const whose = axes.map(({ scope, axis }) => [scope, axis]);
    return { limit: this.#record, key: encodeKey(JSON.stringify([id, ...whose])), cost: kind, at: owner };
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.limiters).map((limiter) => limiter.close()));
  }
}
