import type { Policy } from '../algorithms/algorithm.js';
import type { EscalateOptions } from '../algorithms/escalate-options.js';

/**
 * - `limiter`: a `RateLimiter`;
 * - `per-request`: a limit whose policy is a function of the request; its numbers are the ones used last;
 * - `factory`: the limiters of a `LimiterFactory`; the name and the numbers are the ones used last;
 * - `combined`: a `CombinedLimiter`, whose members are limiters of their own;
 * - `shared`: a `SharedLimiter`, whose rate is in the store;
 * - `meter`: a meter of `@sluice/meter`. Each axis but those of what runs at once is a limiter of its own, `<meter>:<axis>`.
 */
export type DefinitionKind = 'limiter' | 'per-request' | 'factory' | 'combined' | 'shared' | 'meter';

/** The numbers of a limiter for one plan. */
export interface PlanDefinition {
  readonly policies: Readonly<Record<string, Policy>>;
  readonly escalate?: EscalateOptions | undefined;
  readonly cost?: CallCost | undefined;
}

/** Permits of a call that names no number itself; `varies`: they depend on the call. */
export type CallCost = number | 'varies';

/** The limits of a meter. */
export interface MeterLimits {
  /** The policies by axis. With plans: those of the first plan. */
  readonly axes: Readonly<Record<string, Policy>>;
  /** Axes that report and never deny. */
  readonly soft: readonly string[];
  /** The policies by plan and axis, first the default plan. */
  readonly plans?: Readonly<Record<string, Readonly<Record<string, Policy>>>> | undefined;
  /** Numbers that replace those of the policies, by key and axis. */
  readonly overrides?:
    | Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string | number | boolean>>>>>>
    | undefined;
}

/** A meter as its process made it. */
export interface MeterDefinition extends MeterLimits {
  /** The axes that scopes count for, by the text before the first `:` of their keys. Empty if the program has not used a scope, or many kinds. */
  readonly scopes: Readonly<Record<string, readonly string[]>>;
}

/** A limiter as its process made it. */
export interface LimiterDefinition {
  readonly kind: DefinitionKind;
  readonly name: string;
  readonly keyPrefix: string;
  readonly hashTag?: string | undefined;
  /** The policies as data; a single one has the limiter's name. Empty for `combined` and `shared`. */
  readonly policies: Readonly<Record<string, Policy>>;
  /** Was it made with `policies`, by name, and not with one `policy`? */
  readonly several: boolean;
  /** The start of the storage keys of each policy; the encoded key and `suffix` follow. */
  readonly prefixes: Readonly<Record<string, string>>;
  readonly suffix: string;
  /** What it counts by, if known: `IP`, `USER`, `METHOD`, or a key template. */
  readonly key?: string | undefined;
  /** Processes take permits in blocks: a few may be out of the store. */
  readonly prefetch?: true | undefined;
  /** How repeated denials block a key, as given. */
  readonly escalate?: EscalateOptions | undefined;
  /** Of a rule: permits of its calls. Absent: 1. */
  readonly cost?: CallCost | undefined;
  /** Of a rule whose numbers depend on a plan: at most 20 plans, first the default one, whose numbers are `policies`, `escalate`, `cost`. */
  readonly plans?: Readonly<Record<string, PlanDefinition>> | undefined;
  /** Of `combined`: the names of its limiters, by their names in the combination. */
  readonly members?: Readonly<Record<string, string>> | undefined;
  /** Of `shared`: the storage key of the rate. */
  readonly rate?: string | undefined;
  /** Of `meter`. */
  readonly meter?: MeterDefinition | undefined;
}

/** Rules of a document that a process has in force. */
export interface RulesDefinition {
  /** The name of the document. */
  readonly name: string;
  /** Where they come from. */
  readonly source: string;
  /** As the document has it. */
  readonly version?: string | number | undefined;
  /** Identifies their text. */
  readonly fingerprint?: string | undefined;
  /** Why a later version is not in force. */
  readonly problem?: string | undefined;
}

/** What a process publishes. */
export interface ProcessDefinitions {
  /** Version of @sluice/core. */
  readonly version: string;
  /** Version of the storage keys. */
  readonly layout: string;
  readonly host: string;
  readonly pid: number;
  readonly limiters: readonly LimiterDefinition[];
  /** Limiters that are not in the list, because it is full. */
  readonly omitted: number;
  readonly rules?: readonly RulesDefinition[] | undefined;
  /** Does it send its denials to readers? */
  readonly denials?: true | undefined;
}

/** Of a definition without policies of its own. */
export const NO_POLICIES = { policies: {}, several: false, prefixes: {}, suffix: '' } as const;
