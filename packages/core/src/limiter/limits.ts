import { isHeld, type Policy, type Rule } from '../algorithms/algorithm.js';
import { compilePolicy, compileShare } from '../algorithms/index.js';
import type { Prefetch, StandIn } from '../engine/call.js';
import { keyPart, type LimiterKey } from '../keys/key-part.js';
import { encodeKey } from '../keys/redis-key.js';
import { checkName, checkOptions, describe } from '../options.js';
import type { CompiledFailurePolicy } from '../pipeline/failure-policy.js';
import { stocksOf } from '../pipeline/permit-pools.js';
import { prefetching, type WantedPrefetch } from '../pipeline/prefetch-options.js';
import type { CostOf } from './call-options.js';
import type { NamedPart } from './decision-record.js';

/** Changes when the form of stored states does, so that old and new processes can run side by side: `docs/operations.md` says when. */
export const LAYOUT = 'v2';
/** Parts the limiter's name from the policy's: neither contains it. */
const OF = '|';

/** What all policies of a limiter have in common. */
interface Common {
  readonly keyPrefix: string;
  readonly hashTag: string | undefined;
  readonly failure: CompiledFailurePolicy;
  readonly prefetch: WantedPrefetch | undefined;
  readonly remote: boolean;
}

interface Limit {
  readonly name: string;
  readonly rule: Rule;
  readonly standIn: StandIn;
  readonly prefetch: Prefetch | undefined;
  /** Everything of a storage key but the caller's part. */
  readonly prefix: string;
}

/** Where a limiter has what it knows of a key. */
interface Places {
  readonly key: LimiterKey;
  /** The caller's part of each storage key. */
  readonly id: string;
  /** The storage keys, one for each limit. */
  readonly keys: readonly string[];
}

/** The policies of a limiter, ready to be asked. */
export class Limits {
  readonly policies: Readonly<Record<string, Policy>>;
  readonly names: readonly string[];
  readonly hashTag: string | undefined;
  readonly #limits: readonly Limit[];
  readonly #suffix: string;
  /** The key, for errors. */
  readonly #what: string;
  #last: Places | undefined;

  constructor(
    readonly limiter: string,
    given: Policy | Readonly<Record<string, Policy>> | undefined,
    readonly several: boolean,
    { keyPrefix, hashTag, failure, prefetch: wanted, remote }: Common,
  ) {
    if (several) checkPolicies(given);
    this.#what = `the key of limiter '${limiter}'`;
    this.policies = several ? { ...(given as Record<string, Policy>) } : { [limiter]: given as Policy };
    this.names = Object.keys(this.policies);
    this.hashTag = hashTag;
    // Braces make the hash tag: the caller's own key, so that a cluster spreads keys over all its slots, unless told otherwise.
    this.#suffix = hashTag === undefined ? '}' : '';
    this.#limits = Object.entries(this.policies).map(([name, policy]) => {
      const own = compilePolicy(policy);
      const ahead =
        wanted === undefined || several ? undefined : prefetching(`RateLimiter '${limiter}'`, own, wanted);
      const { rule, prefetch } = ahead !== undefined && remote ? ahead : { rule: own };
      const place = several ? `${limiter}${OF}${name}` : limiter;
      const open = hashTag === undefined ? '{' : `{${hashTag}}:`;
      const standIn = { choose: failure.choose, rule: compileShare(policy, failure.share) };
      return {
        name,
        rule,
        standIn,
        prefetch,
        prefix: `${keyPrefix}:${LAYOUT}:${rule.algorithm.tag}:${place}:${open}`,
      };
    });
  }

  /** The policies by the prefix of their storage keys. Limits with the same prefix share their counts. */
  get places(): Map<string, Policy> {
    return new Map(this.#limits.map(({ name, prefix }) => [prefix, this.policies[name]!]));
  }

  /** @throws KeyResolutionError for a wrong key, TypeError when permits can only be held */
  parts(key: LimiterKey, costOf: CostOf, ratesOnly = false): NamedPart[] {
    if (ratesOnly && this.#limits.some(isHeld)) {
      throw new TypeError(
        `Limiter '${this.limiter}': the permits of concurrency are held and not spent: penalty and reward are for other policies`,
      );
    }
    const limits = this.#limits;
    const { id, keys } = this.#placesOf(key);
    if (limits.length === 1) return [partOf(limits[0]!, keys[0]!, id, costOf)];
    return limits.map((limit, i) => partOf(limit, keys[i]!, id, costOf));
  }

  /** Where each limit has the state of a key. Those of the key before are known still: a flood is many calls of one key. */
  #placesOf(key: LimiterKey): Places {
    if (this.#last === undefined || key !== this.#last.key) {
      const id = encodeKey(keyPart(key, this.#what));
      this.#last = { key, id, keys: this.#limits.map(({ prefix }) => prefix + id + this.#suffix) };
    }
    return this.#last;
  }

  /** Gives back what was taken ahead, and takes nothing ahead any more. */
  async close(): Promise<void> {
    for (const { prefetch } of this.#limits) if (prefetch !== undefined) await stocksOf(prefetch).close();
  }

  /** The parts that `given` overrides, with the new numbers. */
  overridden(parts: readonly NamedPart[], given: Policy | Readonly<Record<string, Policy>>): NamedPart[] {
    const policies = this.several ? (given as Record<string, Policy>) : { [this.limiter]: given as Policy };
    if (this.several) checkOptions(`override of limiter '${this.limiter}'`, given, this.names);
    if (Object.keys(policies).length === 0) {
      throw new TypeError(
        `override of limiter '${this.limiter}': name at least one of ${this.names.join(', ')}`,
      );
    }
    return parts.flatMap((part) => {
      if (!Object.hasOwn(policies, part.policy)) return [];
      const rule = compilePolicy(policies[part.policy]!);
      if (rule.algorithm.tag !== part.rule.algorithm.tag || rule.parametersAt || part.rule.parametersAt) {
        throw new TypeError(
          `override: '${part.policy}' is ${this.policies[part.policy]!.algorithm} and can be overridden by other numbers of the same ` +
            `algorithm only (and not with a time zone), not by ${policies[part.policy]!.algorithm}`,
        );
      }
      return [{ ...part, override: rule.parameters }];
    });
  }
}

const partOf = (
  { name, rule, standIn, prefetch, prefix }: Limit,
  key: string,
  id: string,
  costOf: CostOf,
): NamedPart => ({
  name,
  policy: name,
  key,
  keyspace: prefix,
  id,
  rule,
  cost: costOf(name),
  at: 0,
  standIn,
  prefetch,
});

function checkPolicies(given: unknown): void {
  const names =
    typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.keys(given) : [];
  if (names.length === 0 || names.length > 20) {
    throw new TypeError(
      `RateLimiter: policies must be an object of 1 to 20 policies by their names, such as { perMinute: fixedWindow({ … }) }, not ${describe(given)}`,
    );
  }
  for (const name of names) checkName('RateLimiter: the name of a policy', name);
}
