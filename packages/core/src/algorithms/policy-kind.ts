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
