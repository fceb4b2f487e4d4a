import type {
  CombinedKeys,
  CombinedLimiter,
  Cost,
  Decision,
  Duration,
  LimiterKey,
  RateLimiter,
  Store,
} from '@sluice/core';
import type { KeyScope, MaybePromise } from '@sluice/core/internal';
import type { RequestView } from './views.js';

// What limits need of rules that live in a document. `Rules` of @sluice/rules implements it; core does not import that package.

/** A limiter, and what one request counts in it. */
export interface RuledCall {
  /** The limiter of one rule, or a combination whose members have the names of the rules. */
  readonly limiter: RateLimiter | CombinedLimiter;
  /** The key of the one rule, or a key for each rule by its name. */
  readonly keys: LimiterKey | CombinedKeys<string>;
  /** Permits, also by the name of the rule in a combination; default 1. */
  readonly cost?: Cost | undefined;
  /**
   * Ends an allowed call when its response is over: refunds what the rules took that do not count it, and releases what others hold.
   * Undefined if all rules count all requests.
   */
  readonly refund?: ((decision: Decision, successful: boolean) => Promise<void>) | undefined;
}

/** A shadow rule that could not be decided, because its key, plan or cost has no value. */
export interface FailedShadow {
  /** The name of its limiter: `api.next`. */
  readonly name: string;
  readonly error: unknown;
}

/** The response to a denial. What it leaves out comes from the options of the limit. */
export interface RuleReply {
  /** 400 to 599. */
  readonly status?: number | undefined;
  readonly body?: string | object | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A share from 0 to 1: see `RequestLimitOptions`. */
  readonly retryAfterJitter?: number | undefined;
}

/** The rules that match one request. */
export interface MatchedRules {
  /** All rules that are enforced, decided together; undefined if only shadow rules match. */
  readonly enforced: RuledCall | undefined;
  /** The longest wait for permits; undefined: what the options say. */
  readonly timeout?: Duration | undefined;
  /** Rules of mode `shadow`: each is decided by itself and never answered. */
  readonly shadows: readonly (RuledCall | FailedShadow)[];
  /** The reply of the rule that denied; undefined if it has none. */
  replyTo(decision: Decision): RuleReply | undefined;
}

/** A rule as code uses it by its name: for decorated methods. */
export interface NamedRule {
  /** The name of its limiters: `api.sms`. */
  readonly name: string;
  /** `IP`, `USER`, `METHOD`, a template or a list of them, as the document has it. */
  readonly key: string | readonly string[];
  /** Undefined: 64. */
  readonly ipv6Subnet: number | undefined;
  readonly mode: 'enforce' | 'shadow';
  /** The longest wait for permits, unless the call says another; undefined: no wait. */
  readonly timeout?: Duration | undefined;
  /** The rules of mode `shadow` that are compared with this one. */
  readonly shadows: readonly NamedRule[];
  /**
   * The limiter of the call's plan.
   * @param scope returns the value of a name in the template of the plan
   * @throws RulesError if the plan has no value or is unknown, and the document has no default
   */
  limiter(scope: KeyScope): RateLimiter;
  /** Undefined: 1. @throws KeyResolutionError */
  cost(scope: KeyScope): Cost | undefined;
  /** The limiter and the cost of a plan, for callers who know no more. Undefined or unknown: the default plan. */
  ofPlan(plan: string | undefined): Pick<RuledCall, 'cost'> & { readonly limiter: RateLimiter };
}

/** Rules of a document, bound to a store. Each call uses the version that is current then. */
export interface RequestRules {
  /** Of the document: the start of the names of all limiters. */
  readonly name: string;
  readonly store: Store;
  /** The limiters by the names of their rules; of a rule with plans the limiter of the default plan. For `peek`, `reset`, `override`, … */
  readonly limiters: Readonly<Record<string, RateLimiter>>;
  /** The names of the rules for requests whose key, cost or plan reads the body. */
  readonly bodyRules: readonly string[];
  /**
   * The rules that match a request; a promise only if a function of the program's own returns one.
   * @returns undefined if the request passes uncounted: no rule matches, or one that is `unlimited`
   * @throws KeyResolutionError without a key, RulesError without a plan
   */
  match(request: RequestView): MaybePromise<MatchedRules | undefined>;
  /** @throws RulesError that names the nearest rule if there is none of this name */
  rule(name: string): NamedRule;
}
