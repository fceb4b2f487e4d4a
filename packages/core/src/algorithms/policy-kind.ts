import { MAX_MICROS } from '../duration.js';
import type { Policy, Rule } from './algorithm.js';

/**
 * All that is known of the policies of one name, declared once in the algorithm's folder: core, rules, the CLI, the page and the
 * playground read it from the list in `index.ts`.
 */
export interface PolicyKind<P extends Policy = Policy, Options = never> {
  /** The name in `policy.algorithm`, and of the factory. */
  readonly name: P['algorithm'];
  /** The folder, which is also the name of its page. */
  readonly page: string;
  /** The options of `create` by name, in the order in which a form shows them. */
  readonly options: Readonly<Record<string, PolicyOption>>;
  /** Are permits counted in windows that begin and end, so that a part of the limit is reached once in each? `notify` needs it. Default: no. */
  readonly hasWindows?: true;
  /** Can permits of its policies be prefetched? A text: of some, such as `without borrow`. Default: no. */
  readonly prefetches?: true | string;
  /** The factory. @throws RangeError, TypeError when an option is not acceptable */
  readonly create: (options: Options) => P;
  /** @throws RangeError when the policy's numbers are not acceptable */
  compile(policy: P): Rule;
  /** The policy of one process while no store counts for all: at most `share` of the permits and of the rate, but at least one permit. */
  shareOf(policy: P, share: number): P;
  /** The policy in words, without its name: `100 per 1 min`. The policy may come from another version: this throws nothing. */
  text(policy: P): string;
}

/** An option as a document or a form has it. The factory checks its value. */
export type PolicyOption = OptionType & {
  readonly optional?: true;
  /** What the playground has at first. `''`: the option is left out. Without it the playground does not show the option. */
  readonly sample?: string;
  /** For the schema of rules. */
  readonly description?: string;
};

type OptionType =
  /** A number of permits or of anything else. */
  | { readonly type: 'count' }
  /** @param calendar also a window of the calendar, such as `1 month` */
  | { readonly type: 'duration'; readonly calendar?: true }
  | { readonly type: 'word'; readonly words: readonly [string, ...string[]] }
  | { readonly type: 'flag' }
  /** @param what completes "must be …" @param numbers may also be a number */
  | { readonly type: 'text'; readonly what: string; readonly numbers?: true };

/** A share of permits, rounded down, but at least 1: 0 would close the limit. A closed limit stays closed. */
export const permitsOf = (permits: number, share: number): number =>
  permits === 0 ? 0 : Math.max(1, Math.floor(permits * share));

/** The same policy with a share of its limit. */
export const shareOfLimit = <P extends { readonly limit: number }>(policy: P, share: number): P => ({
  ...policy,
  limit: permitsOf(policy.limit, share),
});

/**
 * The time (ms) in which `refill` permits come back to a share of the limit: whole µs for each permit, rounded up, so that any rate
 * stays exact.
 */
export function timeOf(ms: number, refill: number, share: number): number {
  if (refill === 0) return ms;
  const each = Math.ceil((ms * 1000) / share / refill);
  return Math.min(MAX_MICROS, each * refill) / 1000;
}

// Registered globally: a program may load this package twice, as ESM and as CJS.
const PERIOD = Symbol.for('sluice.short-period');

/**
 * Remembers on a policy that its period was given as a number below one second. Copies and JSON of the policy do not show it.
 * @param value the option as given; a text such as '1s' names its unit, so it is not recorded
 */
export function notePeriod<P extends object>(policy: P, option: string, value: unknown): P {
  if (typeof value !== 'number' || value >= 1000) return policy;
  return Object.defineProperty(policy, PERIOD, { value: { option, value }, configurable: true });
}

/** A period given as a number below 1000: milliseconds, but perhaps meant as seconds. `option`: its name, such as `window`. */
export const shortPeriodOf = (policy: object) =>
  (policy as { readonly [PERIOD]?: { readonly option: string; readonly value: number } })[PERIOD];
