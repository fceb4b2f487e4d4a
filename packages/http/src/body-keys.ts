import { describe } from '@sluice/core/internal';
import type { RequestLimitOptions } from './request-limit-options.js';

/** Does a key template, or one of a list, begin one of its expressions with `body`? */
export const readsBody = (key: unknown): boolean =>
  [key].flat().some((template) => typeof template === 'string' && /#[{<]body\b/.test(template));

/** What in valid options reads the body of a request, by its name; undefined if nothing is known to. */
export function bodyReader({
  key,
  limits,
  rules,
}: Pick<RequestLimitOptions<never>, 'key' | 'limits' | 'rules'>): string | undefined {
  if (readsBody(key)) return `key ${describe(key)}`;
  const one = Object.entries(limits ?? {}).find(([, limit]) => readsBody(limit.key));
  if (one !== undefined) return `limits.${one[0]}: key ${describe(one[1].key)}`;
  const rule = rules?.bodyRules[0];
  return rule === undefined ? undefined : `rule '${rule}'`;
}
