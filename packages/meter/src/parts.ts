import { type Limit, type Part, type Policy, RateLimiter, type Store } from '@sluice/core';
import {
  checkOptions,
  compilePolicy,
  type deciderOf,
  describe,
  encodeKey,
  holdRule,
  keyPart,
  LAYOUT,
  type MeterLimits,
  MOST_HELD,
} from '@sluice/core/internal';
import type { WholeAmounts } from './amounts.js';
import { isOverridden, policiesOf } from './limits.js';
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

/** The axes by name, with the numbers of one plan or key. */
type Axes = ReadonlyMap<string, Axis>;

/** A policy of what runs at once. */
type AtOnce = Policy & { readonly limit: number };
const runsAtOnce = (policy: Policy): policy is AtOnce => policy?.algorithm === 'concurrency';

const SCOPE = ['key', 'axes', 'plan'] as const;

/** Each scope adds keys to every call. */
const MOST_SCOPES = 10;

/** The keys of a meter: of its axes, and of the records of its holds. */
export class MeterKeys {
  /** The limiter of each axis that does not limit what runs at once: to block keys, or to override their numbers. */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** The names of the axes. */
  readonly names: readonly string[];
  readonly #axes: Axes;
  /** The axes of plans, and of keys with numbers of their own. */
  readonly #others = new Map<string, Axes>();
  readonly #record: Limit;
  readonly #soft: ReadonlySet<string>;

  /** @param decider of a reader: then the limiters are not published */
  constructor(
    readonly name: string,
    readonly limits: MeterLimits,
    store: Store,
    readonly keyPrefix: string,
    decider?: ReturnType<typeof deciderOf>,
  ) {
    const limiters: Record<string, RateLimiter> = {};
    const axes = Object.entries(limits.axes).map(([axis, policy]): [string, Axis] => {
      if (runsAtOnce(policy)) return [axis, this.#atOnce(axis, policy)];
      const options = { name: `${name}:${axis}`, policy, store, hashTag: name, keyPrefix };
      const limiter = decider === undefined ? new RateLimiter(options) : new RateLimiter(options, decider);
      limiters[axis] = limiter;
      const spent = RateLimiter.internals(limiter).limits.parts('0', 1)[0]!.limit;
      return [axis, { spent, held: this.#limitOf(axis, MOST_HELD) }];
    });
    this.#axes = new Map(axes);
    this.names = [...this.#axes.keys()];
    this.limiters = limiters;
    this.#record = this.#limitOf('holds:', 0);
    this.#soft = new Set(limits.soft);
  }

  #limitOf(of: string, most: number): Limit {
    const { name, keyPrefix } = this;
    const prefix = `${keyPrefix}:${LAYOUT}:hd:${name}|${of}:{${name}}:`;
    return { rule: holdRule(most), prefix, suffix: '', name: of, policy: of };
  }

  #atOnce = (axis: string, { limit }: AtOnce): Axis => ({
    spent: undefined,
    held: this.#limitOf(axis, limit),
  });

  /** The axes with the numbers of a plan and a key. They count in the same keys. */
  #axesFor(plan: string | undefined, key: string): Axes {
    const { limits } = this;
    const isOwn = isOverridden(limits, key);
    if (plan === undefined && !isOwn) return this.#axes;
    const id = JSON.stringify([
      plan !== undefined && Object.hasOwn(limits.plans ?? {}, plan) ? plan : '',
      isOwn && key,
    ]);
    let axes = this.#others.get(id);
    if (axes === undefined) {
      const made = Object.entries(policiesOf(limits, plan, key)).map(([axis, policy]): [string, Axis] => {
        if (runsAtOnce(policy)) return [axis, this.#atOnce(axis, policy)];
        const { spent, held } = this.#axes.get(axis)!;
        return [axis, { spent: { ...spent!, rule: compilePolicy(policy) }, held }];
      });
      axes = new Map(made);
      this.#others.set(id, axes);
    }
    return axes;
  }

  /**
   * @param mayHavePlans the limits are in a document, whose next version may take numbers from plans
   * @throws TypeError for scopes that cannot count a call
   */
  axesOf(scopes: readonly Scope[], mayHavePlans: boolean): HeldAxis[] {
    const where = `meter '${this.name}': scopes`;
    if (!Array.isArray(scopes) || scopes.length === 0 || scopes.length > MOST_SCOPES)
      throw new TypeError(
        `${where} must return a list of 1 to ${MOST_SCOPES} scopes, not ${describe(scopes)}`,
      );
    const all: HeldAxis[] = [];
    const seen = new Set<string>();
    let place = 0;
    for (const given of scopes as readonly Scope[]) {
      if (typeof given === 'object' && given !== null) checkOptions(`a scope of ${where}`, given, SCOPE);
      const { key, axes, plan } =
        typeof given === 'object' && given !== null
          ? given
          : { key: given, axes: undefined, plan: undefined };
      const scope = keyPart(key, `a key of ${where}`);
      if (seen.has(scope))
        throw new TypeError(`${where} names a key twice, but one call counts once for each key`);
      seen.add(scope);
      checkPlan(where, plan, mayHavePlans);
      const known = this.#axesFor(plan, scope);
      if (axes !== undefined && !Array.isArray(axes))
        throw new TypeError(
          `${where}: axes of the key ${describe(key)} must be a list of their names, not ${describe(axes)}`,
        );
      if (axes !== undefined && new Set(axes).size < axes.length)
        throw new TypeError(`${where} names an axis of the key ${describe(key)} twice`);
      for (const axis of axes ?? known.keys()) {
        checkAxis(where, axis, this.names);
        const { spent, held } = known.get(axis)!;
        const isSoft = this.isSoft(axis);
        all.push({ scope, axis, key: encodeKey(scope), spent, held, isSoft, place });
        place += spent === undefined ? 1 : 2;
      }
    }
    if (all.length === 0) throw new TypeError(`${where} has no axis, so nothing would be counted`);
    return all;
  }

  isSoft(axis: string): boolean {
    return this.#soft.has(axis);
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

function checkPlan(where: string, plan: unknown, mayHavePlans: boolean): void {
  if (plan === undefined || (typeof plan === 'string' && mayHavePlans)) return;
  if (typeof plan !== 'string') throw new TypeError(`${where}: a plan must be a text, not ${describe(plan)}`);
  throw new TypeError(
    `${where} names the plan ${describe(plan)}, and the limits of this meter are in code: leave it out, or keep them in a document of ` +
      'rules with plans',
  );
}
