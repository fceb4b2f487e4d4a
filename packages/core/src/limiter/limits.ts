import { hasBackground } from '#platform';
import type { Parameters, Policy } from '../algorithms/algorithm.js';
import { compileEscalation, type EscalateOptions } from '../algorithms/escalate-options.js';
import { checkWindows, compilePolicy, compileShare, kindsToPrefetch } from '../algorithms/index.js';
import type { CallCost, DefinitionKind, LimiterDefinition } from '../board/definition.js';
import { KeyCall, type Operation, type Part } from '../call/call.js';
import { BookingRules, type Limit, type WaitingOptions } from '../call/limit.js';
import { PendingCall } from '../call/pending-call.js';
import { encodeKey, encodeKeyView, keyPart, type LimiterKey } from '../keys/redis-key.js';
import { checkOptions } from '../options.js';
import { PermitPools } from '../pipeline/prefetch/permit-pool.js';
import { type Costs, costFor } from './call-options.js';
import type { CompiledFailurePolicy } from './failure-policy.js';
import { type NotifyOptions, readNotify } from './observer.js';
import { prefetching, type WantedPrefetch } from './prefetch-options.js';

/** Changes with the form of stored states, so that old and new processes can run side by side. See `docs/operations.md`. */
export const LAYOUT = 'v2';
/** Separates the limiter's name from the policy's: neither contains it. */
const OF = '|';

interface Common {
  readonly keyPrefix: string;
  readonly hashTag: string | undefined;
  readonly failure: CompiledFailurePolicy;
  readonly prefetch: WantedPrefetch | undefined;
  readonly remote: boolean;
  readonly escalate: EscalateOptions | undefined;
  readonly notify: NotifyOptions | undefined;
  readonly waiting: WaitingOptions;
}

/** The compiled policies of a limiter. */
export class Limits {
  readonly names: readonly string[];
  /** What the limiter counts by, and the permits of its calls, if they are known. */
  readonly info: { key?: string; cost?: CallCost | undefined } = {};
  readonly #limits: readonly Limit[];
  /** The key, for errors. */
  readonly #what: string;
  /** A store in this process copies the keys that it keeps. */
  readonly #isLocal: boolean;
  /** The last key and its encoded form: a flood is many calls of one key. At first a key that is encoded as itself. */
  #lastKey: LimiterKey = '0';
  #lastEncoded = '0';
  /** The last call, if it has one part: the next one may be equal. */
  #lastCall: KeyCall | undefined;

  constructor(
    readonly limiter: string,
    readonly policies: Readonly<Record<string, Policy>>,
    readonly several: boolean,
    readonly common: Common,
  ) {
    const { keyPrefix, hashTag, failure, prefetch: wanted, remote, notify, escalate, waiting } = common;
    this.#isLocal = !remote;
    this.#what = `the key of limiter '${limiter}'`;
    this.names = Object.keys(policies);
    const where = `RateLimiter '${limiter}'`;
    const escalation = escalate === undefined ? undefined : compileEscalation('RateLimiter', escalate);
    const levelsOf = readNotify(where, notify, this.names, several);
    // Braces make the hash tag: the caller's own key, so that a cluster spreads keys over all its slots.
    const [open, suffix] = hashTag === undefined ? ['{', '}'] : [`{${hashTag}}:`, ''];
    this.#limits = Object.entries(policies).map(([name, policy]) => {
      const own = compilePolicy(policy);
      const prefetched =
        wanted === undefined || several ? undefined : prefetching(where, own, wanted, kindsToPrefetch);
      const { rule, prefetch } =
        prefetched !== undefined && remote && hasBackground ? prefetched : { rule: own };
      const id = several ? `${limiter}${OF}${name}` : limiter;
      const prefix = `${keyPrefix}:${LAYOUT}:${rule.algorithm.tag}:${id}:${open}`;
      const pools = prefetch && new PermitPools(prefetch);
      const notices = `${keyPrefix}:${LAYOUT}:notify:${id}:${open}`;
      const levels = levelsOf.get(name);
      const thresholds = levels && { limiter, policy: name, prefix: notices, suffix, levels };
      if (levels !== undefined) checkWindows(where, name, policy);
      const base = { name, policy: name, prefix, suffix };
      const local = { ...base, rule: compileShare(policy, failure.share) };
      const fallback = { choose: failure.choose, limit: local };
      const waits = new BookingRules(own, waiting);
      const plain = { ...base, rule, fallback, notify: thresholds, prefetch: pools, waiting: waits };
      if (escalation === undefined) return plain;
      // New rules, because a call that is not enforced keeps those without an escalation. Not spread: parameters may be a getter.
      const escalating = Object.assign(compilePolicy(policy), { escalation });
      const escalatingLocal = Object.assign(compileShare(policy, failure.share), { escalation });
      const strict = { ...fallback, limit: { ...local, rule: escalatingLocal } };
      return { ...plain, rule: escalating, fallback: strict, shadow: { rule, fallback } };
    });
  }

  /** The policies by the prefix of their storage keys. Limits with the same prefix share their counts. */
  get byPrefix(): Map<string, Policy> {
    return new Map(this.#limits.map(({ name, prefix }) => [prefix, this.policies[name]!]));
  }

  /** Has a policy thresholds to report? */
  get notifies(): boolean {
    return this.#limits.some(({ notify }) => notify !== undefined);
  }

  /** For other processes. */
  definition(kind: DefinitionKind): LimiterDefinition {
    const { limiter: name, policies, several } = this;
    const { keyPrefix, hashTag, escalate } = this.common;
    const prefixes = Object.fromEntries(this.#limits.map(({ policy, prefix }) => [policy, prefix]));
    const prefetch = this.#limits.some((limit) => limit.prefetch !== undefined) || undefined;
    const own = { kind, name, keyPrefix, hashTag, policies, several, prefixes, prefetch, escalate };
    return { ...own, ...this.info, suffix: this.#limits[0]!.suffix };
  }

  /** @throws KeyResolutionError for an invalid key */
  call(operation: Operation, key: LimiterKey, costs: Costs, traced = false): KeyCall {
    const last = this.#lastCall;
    const isKnown = key === this.#lastKey;
    if (isKnown && costs === last?.cost && operation === last.operation && !traced && !last.begun)
      return last;
    const limits = this.#limits;
    const first = limits[0]!;
    const encoded = isKnown ? this.#lastEncoded : this.encode(key);
    const cost = typeof costs === 'number' ? costs : costFor(costs, first.policy);
    const several =
      limits.length === 1
        ? undefined
        : limits.map((limit) => ({ limit, key: encoded, cost: costFor(costs, limit.policy), at: 0 }));
    const call = this.#isLocal
      ? new KeyCall(operation, 0, first, encoded, cost, 0, several, traced)
      : new PendingCall(operation, 0, first, encoded, cost, 0, several, traced);
    this.#lastCall = several === undefined && !traced ? call : undefined;
    return call;
  }

  /** @throws KeyResolutionError for an invalid key */
  parts(key: LimiterKey, costs: Costs): readonly Part[] {
    return this.call('consume', key, costs).parts;
  }

  /** @throws KeyResolutionError for an invalid key */
  encode(key: LimiterKey): string {
    if (key === this.#lastKey) return this.#lastEncoded;
    const text = keyPart(key, this.#what);
    this.#lastEncoded = this.#isLocal ? encodeKeyView(text) : encodeKey(text);
    [this.#lastKey, this.#lastCall] = [key, undefined];
    return this.#lastEncoded;
  }

  /** @throws TypeError if permits of the limiter are held */
  checkSpent(): void {
    if (this.#limits.some(({ rule }) => rule.algorithm.holders !== undefined)) {
      throw new TypeError(
        `Limiter '${this.limiter}': the permits of concurrency are held and not spent. penalty and reward need another algorithm`,
      );
    }
  }

  /** The limits, in order, as decisions of a combination name them if this limiter has the name `member` there. */
  namedBy(member: string): readonly Limit[] {
    return this.#limits.map((limit) => {
      const name = this.several ? `${member}.${limit.policy}` : member;
      return { ...limit, policy: member, name };
    });
  }

  /** Returns prefetched permits, and prefetches none from now on. */
  async close(): Promise<void> {
    for (const { prefetch } of this.#limits) await prefetch?.close();
  }

  /** The parts that `given` overrides, and the parameters of each. */
  overridden(
    parts: readonly Part[],
    given: Policy | Readonly<Record<string, Policy>>,
  ): { readonly parts: Part[]; readonly overrides: Parameters[] } {
    const policies = this.several ? (given as Record<string, Policy>) : { [this.limiter]: given as Policy };
    if (this.several) checkOptions(`override of limiter '${this.limiter}'`, given, this.names);
    if (Object.keys(policies).length === 0) {
      throw new TypeError(
        `override of limiter '${this.limiter}': name at least one of ${this.names.join(', ')}`,
      );
    }
    const overridden = parts.filter(({ limit }) => Object.hasOwn(policies, limit.policy));
    const overrides = overridden.map(({ limit }) =>
      overrideOf(limit, this.policies[limit.policy]!, policies[limit.policy]!),
    );
    return { parts: overridden, overrides };
  }
}

/**
 * The parameters that override a limit for one key.
 * @param own the policy of the limit
 * @param given the policy that overrides it
 * @throws TypeError for a policy of another algorithm, or with other windows of a calendar
 */
function overrideOf({ policy, rule }: Limit, own: Policy, given: Policy): Parameters {
  const other = compilePolicy(given);
  if (other.algorithm.tag !== rule.algorithm.tag) {
    throw new TypeError(
      `override: '${policy}' is ${own.algorithm} and can be overridden by other numbers of the same ` +
        `algorithm only, not by ${given.algorithm}`,
    );
  }
  if (other.calendar?.id !== rule.calendar?.id) {
    throw new TypeError(
      `override: '${policy}' keeps its windows if they, or those of the override, are of a calendar: give both policies the same ` +
        'window, timeZone and anchor, and change the limit only',
    );
  }
  const parameters = other.calendar?.head ?? other.parameters;
  return rule.algorithm.override?.keep?.(parameters, rule.parameters) ?? parameters;
}
