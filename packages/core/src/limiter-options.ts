import type { NamedPart } from './admission/booking.js';
import type { CostOf } from './admission/call-options.js';
import type { Policy, Rule } from './algorithms/algorithm.js';
import { compilePolicy, compileShare } from './algorithms/index.js';
import type { Prefetch, StandIn } from './decisions/call.js';
import { type Duration, toMicros } from './duration.js';
import {
  type CompiledFailurePolicy,
  compileFailurePolicy,
  type FailurePolicy,
} from './layers/failure-policy.js';
import { type PrefetchOptions, prefetching, readPrefetch } from './layers/prefetch-options.js';
import { stocksOf } from './layers/stocks.js';
import { checkOptions, describe } from './options.js';
import type { Store } from './stores/store.js';

/** Everything about a limiter but how it decides. */
export interface LimiterPlace {
  /**
   * Names the limit in keys, headers and errors. Letters, digits and `. _ - : / @ #`; default `'default'`. Needed with a
   * `store`, where other limits may be as well.
   */
  readonly name?: string | undefined;
  /** Where state lives; default a `memoryStore()` of this limiter's own. A store that you give stays yours to close. */
  readonly store?: Store | undefined;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string | undefined;
  /**
   * Puts all keys of this limiter into one slot of a Redis Cluster, and so on one of its nodes. A `CombinedLimiter` needs it
   * there: all its members with the same tag. Default: keys are spread over all slots.
   */
  readonly hashTag?: string | undefined;
  /** How long the answer of a remote store may take, the wait of `acquire` not counted; default 100 ms. */
  readonly deadline?: Duration | undefined;
  /**
   * How to decide while a remote store is out: `'local'`, `'allow'`, `'deny'` or a function that says which; see `FailurePolicy`. Default
   * `'local'`: each process holds its callers to the whole limit by itself.
   */
  readonly failurePolicy?: FailurePolicy | undefined;
  /**
   * For how long at the most this process itself answers what a remote store has just denied, never past the moment at which it could pass;
   * default `'1s'`. What lets a key pass sooner in another process (`reset`, `refund`, `unblock`, …) is seen after that. `false`: each call
   * asks the store.
   */
  readonly denyCache?: Duration | false | undefined;
  /**
   * Takes permits from a remote store in blocks and spends them in this process: fewer calls, and answers at once, for keys that are asked
   * often; `{ most: 100 }`. See `PrefetchOptions` and docs/prefetch.md. It is for a single policy that is `fixedWindow`, `slidingWindow`,
   * `gcra`, `leakyBucket` or `tokenBucket`; several `policies` are asked as without. Default `false`: each permit is asked for.
   */
  readonly prefetch?: PrefetchOptions | false | undefined;
}

export type RateLimiterOptions = LimiterPlace &
  (
    | {
        /** How to decide: `fixedWindow({ … })`, `tokenBucket({ … })`, … */
        readonly policy: Policy;
        readonly policies?: undefined;
      }
    | {
        readonly policy?: undefined;
        /** Several policies by their names, decided all or nothing: `{ perMinute: fixedWindow({ … }), perDay: … }`. */
        readonly policies: Readonly<Record<string, Policy>>;
      }
  );

const OPTIONS = [
  'name',
  'policy',
  'policies',
  'store',
  'keyPrefix',
  'hashTag',
  'deadline',
  'failurePolicy',
  'denyCache',
  'prefetch',
] as const;

/** Changes when the form of stored states does, so that old and new processes can run side by side: `docs/operations.md` says when. */
export const LAYOUT = 'v2';
const NAME = /^[\w.:/@#-]{1,100}$/;
/** Parts the limiter's name from the policy's: neither contains it. */
const OF = '|';

export function checkName(what: string, value: unknown): void {
  if (typeof value !== 'string' || !NAME.test(value)) {
    throw new TypeError(`${what} must be 1 to 100 letters, digits or . _ - : / @ #, not ${describe(value)}`);
  }
}

/** @throws TypeError when it is not a store */
export function checkStore(where: string, store: Store): void {
  if (typeof store?.decide !== 'function') {
    throw new TypeError(`${where}: store must be memoryStore() or redisStore(…), not ${describe(store)}`);
  }
}

export function checkLimiterOptions(options: RateLimiterOptions) {
  checkOptions('RateLimiter', options, OPTIONS);
  const {
    name = 'default',
    policy,
    policies,
    store,
    keyPrefix = 'sluice',
    hashTag,
    deadline = 100,
    denyCache = '1s',
    prefetch = false,
  } = options;
  checkName('RateLimiter: name', name);
  checkName('RateLimiter: keyPrefix', keyPrefix);
  if (hashTag !== undefined) checkName('RateLimiter: hashTag', hashTag);
  if (policies !== undefined && policy !== undefined) {
    throw new TypeError('RateLimiter: give a policy or several policies, not both');
  }
  if (store !== undefined) checkStore('RateLimiter', store);
  if (store !== undefined && options.name === undefined) {
    throw new TypeError(
      "RateLimiter: a limit in a store of yours needs a name, such as 'login': two without would count together",
    );
  }
  const failure = compileFailurePolicy('RateLimiter', name, options.failurePolicy);
  const limits = new Limits(name, policies ?? policy, policies !== undefined, {
    keyPrefix,
    hashTag,
    failure,
    prefetch: prefetch === false ? undefined : readPrefetch('RateLimiter', prefetch),
    remote: store?.remote === true,
  });
  return {
    name,
    limits,
    store,
    deadline: toMicros('RateLimiter: deadline', deadline),
    denyCache: denyCache === false ? 0 : toMicros('RateLimiter: denyCache', denyCache),
  };
}

/** What all policies of a limiter have in common. */
interface Common {
  readonly keyPrefix: string;
  readonly hashTag: string | undefined;
  readonly failure: CompiledFailurePolicy;
  readonly prefetch: Prefetch | undefined;
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

/** The policies of a limiter, ready to be asked. */
export class Limits {
  readonly policies: Readonly<Record<string, Policy>>;
  readonly names: readonly string[];
  readonly hashTag: string | undefined;
  readonly #limits: readonly Limit[];
  readonly #suffix: string;

  constructor(
    readonly limiter: string,
    given: Policy | Readonly<Record<string, Policy>> | undefined,
    readonly several: boolean,
    { keyPrefix, hashTag, failure, prefetch: wanted, remote }: Common,
  ) {
    if (several) checkPolicies(given);
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

  /** @param key encoded */
  parts(key: string, costOf: CostOf, ratesOnly = false): NamedPart[] {
    if (ratesOnly && this.#limits.some(({ rule }) => rule.algorithm.holders !== undefined)) {
      throw new TypeError(
        `Limiter '${this.limiter}': the permits of concurrency are held and not spent: penalty and reward are for other policies`,
      );
    }
    const limits = this.#limits;
    if (limits.length === 1) return [this.#part(limits[0]!, key, costOf)];
    return limits.map((limit) => this.#part(limit, key, costOf));
  }

  #part({ name, rule, standIn, prefetch, prefix }: Limit, key: string, costOf: CostOf): NamedPart {
    return {
      name,
      policy: name,
      key: prefix + key + this.#suffix,
      rule,
      cost: costOf(name),
      at: 0,
      standIn,
      prefetch,
    };
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
