import { describe, noEffect } from '@sluice/core/internal';
import {
  CHOICE_OPTIONS,
  KEY_OPTIONS,
  LIMITER_OPTIONS,
  type RequestLimitOptions,
} from './request-limit-options.js';
import type { RequestRules } from './request-rules.js';

/** @throws TypeError if the option `rules` is something else */
export function checkRules(where: string, rules: unknown): asserts rules is RequestRules {
  const { match, rule } = (rules ?? {}) as Partial<RequestRules>;
  if (typeof match === 'function' && typeof rule === 'function') return;
  const remedy =
    rules instanceof Promise
      ? 'await them before: rules: await loadRules(…)'
      : `pass the result of loadRules or new Rules(…), not ${describe(rules)}`;
  throw new TypeError(`${where}: rules must be rules of @sluice/rules: ${remedy}`);
}

const IN_THE_DOCUMENT = 'each rule has its own: set it in the document';
const WITH_THE_RULES = 'all limiters are those of the rules: pass it where you create the rules';

/** @throws TypeError naming an option that has no effect beside `rules` */
export function checkBesideRules<Args extends readonly unknown[]>(
  where: string,
  options: RequestLimitOptions<Args>,
): void {
  const given = (names: readonly (keyof RequestLimitOptions<Args>)[]) =>
    names.find((name) => options[name] !== undefined);
  const choice = given(['limiter', ...CHOICE_OPTIONS]);
  if (choice !== undefined) throw new TypeError(`${where}: pass rules or ${choice}, not both`);
  const idle = (option: string, remedy: string) => noEffect(where, option, `with rules: ${remedy}`);
  if (options.user !== undefined) throw idle('user', "write a key such as '#{user.uid}' in the document");
  const inDocument = given([...KEY_OPTIONS, 'cost']);
  if (inDocument !== undefined) throw idle(inDocument, IN_THE_DOCUMENT);
  const ofLimiters = given(LIMITER_OPTIONS);
  if (ofLimiters !== undefined) throw idle(ofLimiters, WITH_THE_RULES);
}
