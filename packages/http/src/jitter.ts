import type { Decision } from '@sluice/core';
import { describe } from '@sluice/core/internal';

/** @throws RangeError unless it is a share from 0 to 1 */
export function checkJitter(what: string, share: unknown): number {
  if (typeof share === 'number' && share >= 0 && share <= 1) return share;
  throw new RangeError(`${what} must be a share from 0 to 1, such as 0.2, not ${describe(share)}`);
}

/** The denial as a response shows it, with a random part of its wait added. Never earlier than the true moment. */
export function withJitter(decision: Decision, share: number | undefined): Decision {
  if (share === undefined || share === 0 || !Number.isFinite(decision.retryAfter)) return decision;
  const { policies, moreAfter, retryAfter } = decision;
  const added = Math.floor(retryAfter * share * Math.random());
  return { ...decision, moreAfter, policies, retryAfter: retryAfter + added };
}
