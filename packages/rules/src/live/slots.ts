import { KeyResolutionError, type Store } from '@sluice/core';
import type { RequestView } from '@sluice/http';
import { mayMeet } from '../matching/overlap.js';
import { isAmbiguous } from '../matching/request-facts.js';
import type { ApplyingRule, RuleSet } from '../rule-set.js';

/** @throws TypeError if the store is a Redis Cluster, and rules that are decided together are in different slots */
export function checkSlots({ rules, name, document }: RuleSet, { slotted }: Store): void {
  if (!slotted || document.hashTag !== undefined) return;
  const pair = mayMeet(rules.filter(({ mode, unlimited }) => mode === 'enforce' && !unlimited));
  if (pair === undefined) return;
  throw new TypeError(
    `Rules '${name}': '${pair[0].name}' and '${pair[1].name}' can match one request, and a Redis Cluster decides keys together ` +
      "only in one slot. Give the document a hashTag, such as hashTag: 'api': all its keys are then on one node",
  );
}

/**
 * With dot segments or encoded slashes, rules that never meet may apply to one request: each to one reading of its path.
 * @throws KeyResolutionError (400) if the store cannot decide them together
 */
export function checkReadings(
  { document }: RuleSet,
  { slotted }: Store,
  applying: readonly ApplyingRule[],
  view: RequestView,
): void {
  if (!slotted || document.hashTag !== undefined || !isAmbiguous(view)) return;
  if (applying.filter(({ rule }) => rule.mode === 'enforce').length > 1) {
    throw new KeyResolutionError('The path has dot segments or encoded slashes', '#{path}');
  }
}
