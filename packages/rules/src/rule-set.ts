import type { MeterLimits } from '@sluice/core/internal';
import type { RequestView } from '@sluice/http';
import type { Rule, RuleCall } from './compile/rule.js';
import type { RulesDocument } from './document/schema.js';
import { withParams } from './matching/params-view.js';
import type { SplitPath } from './matching/path-pattern.js';
import { RequestFacts } from './matching/request-facts.js';
import { RuleIndex } from './matching/rule-index.js';
import type { RuleTest } from './testing/compile-tests.js';

/** A rule that applies to a request, with the request's key, cost and plan. */
export interface MatchedRule extends RuleCall {
  readonly rule: Rule;
  /** Its name in a decision, if it applies to several requests that are decided together; default the name of the rule. */
  readonly member?: string | undefined;
}

/** A rule that applies to a request, and the request with the params of the rule's path pattern. */
export interface ApplyingRule {
  readonly rule: Rule;
  readonly view: RequestView;
  /** The request's key, cost and plan, if they were read already. */
  call: MatchedRule | undefined;
}

/** Marks rule sets across copies of this package (ESM beside CJS). */
const brand = Symbol.for('sluice.rule-set');

/** A checked document of rules, without a store. Made by `parseRules`. */
export class RuleSet {
  readonly [brand] = true;
  /** The start of the names of all limiters. */
  readonly name: string;
  readonly version: string | number | undefined;
  readonly rules: readonly Rule[];
  readonly #byName: ReadonlyMap<string, Rule>;
  readonly #index: RuleIndex;

  /** True also for a rule set of another copy of this package. */
  static [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === 'object' && value !== null && brand in value;
  }

  /** @internal */
  constructor(
    /** The document, without comments. */
    readonly document: RulesDocument,
    rules: readonly Rule[],
    /** The name of its file, for messages. */
    readonly file: string | undefined,
    readonly tests: readonly RuleTest[],
    /** The limits of the meters, by name. */
    readonly meters: ReadonlyMap<string, MeterLimits>,
  ) {
    this.name = document.name ?? 'rules';
    this.version = document.version;
    this.rules = rules;
    this.#byName = new Map(rules.map((rule) => [rule.name, rule]));
    this.#index = new RuleIndex(rules.filter(({ matcher }) => matcher !== undefined));
  }

  /** The rule of this name, or undefined. */
  rule(name: string): Rule | undefined {
    return this.#byName.get(name);
  }

  /**
   * The rules that limit a request, in the order of the document: without unlimited and replaced ones, with shadows.
   * @throws KeyResolutionError if the request lacks a key, or has no valid cost
   */
  match(view: RequestView): MatchedRule[] {
    return this.applying(view).map(({ rule, view }) => ({ rule, ...rule.resolve(view) }));
  }

  /** The same rules, before keys, costs and plans are read, so a missing key does not throw. */
  applying(view: RequestView): ApplyingRule[] {
    const facts = new RequestFacts(view);
    const [first = [], ...others] = facts.paths.map((path) => this.#matching(facts, path));
    if (others.length === 0) return withoutReplaced(first, first);
    // A handler of /a/* receives /a/../b, which can mean /b. A limit of any reading applies; an exception applies only if all readings match it.
    const has = (reading: readonly ApplyingRule[], rule: Rule) => reading.find((one) => one.rule === rule);
    const common = first.filter(({ rule }) => others.every((reading) => has(reading, rule)));
    const found = this.rules.flatMap((rule) => {
      const own = [first, ...others].find((reading) => has(reading, rule));
      return own === undefined ? [] : has(own, rule)!;
    });
    return withoutReplaced(found, common);
  }

  #matching(facts: RequestFacts, path: SplitPath): ApplyingRule[] {
    const found: ApplyingRule[] = [];
    for (const rule of this.#index.candidates(path)) {
      const params = rule.matcher!.match(facts, path);
      if (params !== undefined) found.push({ rule, view: withParams(facts.view, params), call: undefined });
    }
    return found;
  }
}

/**
 * A rule that is replaced itself replaces nothing. A shadow replaces only shadows.
 * @param exempting the rules among them that can replace others, or exempt the request
 */
function withoutReplaced(found: ApplyingRule[], exempting: readonly ApplyingRule[]): ApplyingRule[] {
  if (!found.some(({ rule }) => rule.unlimited || rule.replaces.length > 0)) return found;
  const replacedBy = new Map<string, Rule[]>();
  for (const { rule } of exempting) {
    for (const name of rule.replaces) replacedBy.set(name, [...(replacedBy.get(name) ?? []), rule]);
  }
  const known = new Map<Rule, boolean>();
  const isReplaced = (rule: Rule): boolean => {
    let replaced = known.get(rule);
    if (replaced === undefined) {
      // A shadow does not apply where the rule that it compares with does not.
      const by = [rule.name, rule.compare].flatMap((name) => replacedBy.get(name ?? '') ?? []);
      replaced = by.some(
        (other) =>
          (other.mode === 'enforce' || rule.mode === 'shadow') && other !== rule && !isReplaced(other),
      );
      known.set(rule, replaced);
    }
    return replaced;
  };
  const passes = ({ rule }: ApplyingRule) =>
    rule.unlimited && rule.replaces.length === 0 && !isReplaced(rule);
  return exempting.some(passes) ? [] : found.filter(({ rule }) => !rule.unlimited && !isReplaced(rule));
}
