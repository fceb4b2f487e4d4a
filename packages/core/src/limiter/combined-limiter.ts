import { NO_POLICIES } from '../board/definition.js';
import { announce } from '../board/definitions.js';
import { KeyCall, type Operation, type Part } from '../call/call.js';
import type { Limit } from '../call/limit.js';
import { PendingCall } from '../call/pending-call.js';
import type { LimiterKey } from '../keys/redis-key.js';
import { checkName, checkOptions, describe, isRecord } from '../options.js';
import { Admission } from './admission.js';
import { BaseLimiter, type CallFactory } from './base-limiter.js';
import { type Costs, costFor } from './call-options.js';
import { LAYOUT } from './limits.js';
import { observerOf } from './observer.js';
import { RateLimiter } from './rate-limiter.js';

/** The key of a call in each member. */
export type CombinedKeys<Names extends string> = Readonly<Record<Names, LimiterKey>>;

/**
 * Several limiters, each with its own key, decided together in one script call. A call passes if all of them have its permits; it takes
 * from all or from none. In a cost by name, the names are those of the members.
 */
export class CombinedLimiter<Names extends string = string> extends BaseLimiter<CombinedKeys<Names>> {
  readonly #admission: Admission;
  readonly #endUse: () => void;

  /**
   * @param limiters by their names here; all in one store
   * @param options `name`: for decisions and errors; default the members' names: `perUser+everybody`
   * @throws TypeError when they are in different stores, or in a Redis Cluster without one common `hashTag`
   */
  constructor(
    readonly limiters: Readonly<Record<Names, RateLimiter>>,
    options: { readonly name?: string } = {},
  ) {
    checkOptions('CombinedLimiter', options, ['name']);
    if (options.name !== undefined) checkName('CombinedLimiter: name', options.name);
    const members = membersOf(limiters);
    const name = options.name ?? members.map((member) => member.name).join('+');
    const { limits, store } = members[0]!;
    const { decider } = members[0]!.admission;
    const notifies = members.some(({ limits }) => limits.notifies);
    const names = new Map(members.map((member) => [member.name, member.limits.limiter]));
    const observer = observerOf(store, { name, decider, keys: 'members', members: names, notifies });
    const admission = new Admission(name, decider, observer);
    super(name, admission, new MemberCalls(name, members));
    this.#admission = admission;
    const { keyPrefix, hashTag } = limits.common;
    const definition = { kind: 'combined', name, keyPrefix, hashTag, ...NO_POLICIES } as const;
    const named = Object.fromEntries(names);
    const id = JSON.stringify([name, named]);
    this.#endUse = announce(store.fleet, LAYOUT, id, () => ({ ...definition, members: named }));
  }

  /** Ends all waits of this combination with a `LimiterClosedError` and returns their permits. Its members stay open. */
  async close(): Promise<void> {
    this.#endUse();
    await this.#admission.close();
  }
}

type Member = { readonly name: string } & ReturnType<typeof RateLimiter.internals>;

/** @throws TypeError if they cannot be decided together */
function membersOf(limiters: Readonly<Record<string, RateLimiter>>): readonly Member[] {
  if (!isRecord(limiters) || Object.keys(limiters).length === 0) {
    throw new TypeError(
      `CombinedLimiter takes limiters by name: { perUser, everybody }, not ${describe(limiters)}`,
    );
  }
  const members = Object.entries(limiters).map(([name, limiter]) => {
    checkName('CombinedLimiter: the name of a limiter', name);
    if (limiter instanceof RateLimiter) return { name, ...RateLimiter.internals(limiter) };
    throw new TypeError(`CombinedLimiter: ${name} must be a RateLimiter, not ${describe(limiter)}`);
  });
  const [first] = members;
  for (const { name, store, limits } of members) {
    if (store !== first!.store) {
      throw new TypeError(
        `CombinedLimiter: ${name} is not in the same store as ${first!.name}, and one call decides in one store. ` +
          'Give all limiters the same store object',
      );
    }
    const { hashTag } = limits.common;
    const tagged = hashTag !== undefined && hashTag === first!.limits.common.hashTag;
    if (members.length > 1 && store.slotted && !tagged) {
      throw new TypeError(
        'CombinedLimiter: a Redis Cluster decides keys together only in one slot: give all its limiters the same hashTag, ' +
          "such as hashTag: 'orders'. All their keys are then on one node",
      );
    }
  }
  return members;
}

/** Makes one call of the parts of all members. */
class MemberCalls implements CallFactory<CombinedKeys<string>> {
  readonly isRemote: boolean;
  readonly names: readonly string[];
  /** The limits of each member, as decisions of the combination name them. */
  readonly #named: readonly (readonly Limit[])[];

  constructor(
    readonly limiter: string,
    readonly members: readonly Member[],
  ) {
    this.isRemote = members[0]!.store.remote;
    this.names = members.map(({ name }) => name);
    this.#named = members.map(({ name, limits }) => limits.namedBy(name));
  }

  call(operation: Operation, keys: CombinedKeys<string>, costs: Costs, traced = false): KeyCall {
    this.#check(keys);
    const parts: Part[] = [];
    for (let i = 0; i < this.members.length; i += 1) {
      const { name, limits } = this.members[i]!;
      const [key, cost] = [limits.encode(keys[name]!), costFor(costs, name)];
      for (const limit of this.#named[i]!) parts.push({ limit, key, cost, at: 0 });
    }
    const call = { operation, wait: 0, parts, traced };
    return this.isRemote ? PendingCall.of(call) : KeyCall.of(call);
  }

  /** @throws TypeError for keys of other names */
  #check(keys: CombinedKeys<string>): void {
    if (typeof keys === 'object' && keys !== null) {
      let known = true;
      for (const name in keys) known &&= this.names.includes(name);
      if (known) return;
    }
    checkOptions(`CombinedLimiter '${this.limiter}': keys`, keys, this.names);
  }
}
