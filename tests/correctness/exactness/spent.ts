import type { Decision, ManualClock } from '../../../packages/core/src/index.js';
import { DecisionRecord } from '../../../packages/core/src/limiter/decision-record.js';
import type { Case } from './oracles.js';

type Rule = Pick<Case, 'left' | 'take'>;

export interface Spent {
  readonly at: number;
  readonly cost: number;
  readonly source: string;
}

export const noting =
  (spent: Spent[], clock: ManualClock) =>
  (decision: Decision): boolean => {
    const { allowed, cost, source } = decision;
    // Prefetched permits are spent at the call, others when the store takes them.
    const at = source === 'prefetch' ? clock.now() : DecisionRecord.taken(decision)![0]?.at;
    if (allowed) spent.push({ at: at!, cost, source });
    return allowed;
  };

/** The first permits that the rule forbids. @param short permits by which to shorten the rule */
export const refused = (spent: readonly Spent[], rule: Rule, short = 0): Spent | undefined =>
  spent.find(({ at, cost }) => {
    if (rule.left(at) - short < cost) return true;
    rule.take(at, cost);
    return false;
  });
