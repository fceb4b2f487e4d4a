export type { Rule, RuleCall } from './compile/rule.js';
export { isRulesError, type Problem, problemLine, RulesError } from './document/problems.js';
export type { LimitInput, ReplyInput, RuleInput, RulesDocument } from './document/schema.js';
export type { MatchInput } from './document/schema-match.js';
export type { MeterInput } from './document/schema-meter.js';
export type { ExpectInput, GivenInput, TestInput } from './document/schema-tests.js';
export { Rules } from './live/rules.js';
export type { RulesDecision } from './live/rules-decision.js';
export type { RulesOptions } from './live/rules-options.js';
export type { ShadowDecision } from './live/shadow-decision.js';
export { type ParseOptions, parseRules } from './parse-rules.js';
export { type ApplyingRule, type MatchedRule, RuleSet } from './rule-set.js';
export type { RulesFunction } from './sources/function-source.js';
export { type LoadedRules, type LoadRulesOptions, loadRules } from './sources/load-rules.js';
export { isRulesConflictError, RulesConflictError } from './sources/rules-conflict-error.js';
export { isRulesSourceError, RulesSourceError } from './sources/rules-source.js';
export {
  type PushOptions,
  type StoredRules,
  type StoredRulesOptions,
  storedRules,
} from './sources/stored-rules.js';
export type { RulesVersion } from './sources/version-list.js';
export type { RuleTest } from './testing/compile-tests.js';
export { type FailedTest, runTests, type TestReport } from './testing/run-tests.js';
export { RulesTestError, testRules } from './testing/test-rules.js';
