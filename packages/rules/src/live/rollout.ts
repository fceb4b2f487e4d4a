import { createHash } from 'node:crypto';
import { isKeyResolutionError } from '@sluice/core';
import type { RequestView } from '@sluice/http';
import { compileRuleKey } from '../compile/templates.js';
import { Report } from '../document/problems.js';
import type { RuleSet } from '../rule-set.js';

/** Chooses the version of a request during a rollout. */
export class Rollout {
  readonly #percent: number;
  readonly #by: ((request: RequestView) => string) | undefined;

  constructor(
    readonly next: RuleSet,
    /** The version of all other callers. */
    readonly before: RuleSet,
  ) {
    const { percent, by = 'key' } = next.document.rollout!;
    this.#percent = percent;
    const place = { path: ['rollout'], field: 'by', report: new Report(), isForCode: false };
    this.#by = by === 'key' ? undefined : compileRuleKey(by, undefined, place);
  }

  /** The version of a request. Without a key it is the version before. */
  of(request: RequestView): RuleSet {
    const key = this.#keyOf(request);
    return key !== undefined && pointOf(key) < this.#percent ? this.next : this.before;
  }

  #keyOf(request: RequestView): string | undefined {
    try {
      if (this.#by !== undefined) return this.#by(request);
      for (const set of [this.next, this.before]) {
        const first = set.applying(request).find(({ rule }) => rule.mode === 'enforce');
        if (first !== undefined) return first.rule.keyOf(first.view);
      }
      return undefined;
    } catch (error) {
      if (isKeyResolutionError(error)) return undefined;
      throw error;
    }
  }
}

/** The position of a key, from 0 to below 100. It is the same for every version and process, so a growing percent only adds callers. */
export function pointOf(key: string): number {
  const digest = createHash('sha256').update(`sluice rollout ${key}`).digest();
  return (digest.readUInt32BE(0) / 2 ** 32) * 100;
}
