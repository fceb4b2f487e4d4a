export type { Rule, RuleCall } from './compile/rule.js';
export { isRulesError, type Problem, problemLine, RulesError } from './document/problems.js';
export type { LimitInput, MatchInput, ReplyInput, RuleInput, RulesDocument } from './document/schema.js';
export { Rules, type RulesDecision } from './live/rules.js';
export type { RulesOptions } from './live/rules-options.js';
export type { ShadowDecision } from './live/shadow-decision.js';
export { type ParseOptions, parseRules } from './parse-rules.js';
export { type ApplyingRule, type MatchedRule, RuleSet } from './rule-set.js';
