import { SpaceSaving } from '@sluice/fleet/internal';
import type { MatchedRule } from '../rule-set.js';
import { boundedKey } from './figures/key-uses.js';
import { heaviestOf } from './figures/rule-figures.js';
import type { Replayed } from './replay.js';
import type { Difference } from './report.js';

const CANDIDATES = 10_000;

/** Requests that changed from allowed to denied, or back, with their keys. */
class Changed {
  #requests = 0;
  /** Names of rules have no space. */
  readonly #keys = new SpaceSaving(CANDIDATES);

  add(deniedBy: MatchedRule): void {
    this.#requests += 1;
    this.#keys.add(`${deniedBy.rule.name} ${boundedKey(deniedBy.key)}`, 1);
  }

  get difference(): Difference {
    const keys = heaviestOf(this.#keys).map(({ key, ...counts }) => {
      const space = key.indexOf(' ');
      return { rule: key.slice(0, space), key: key.slice(space + 1), ...counts };
    });
    return { requests: this.#requests, keys };
  }
}

/** Compares the decisions of two documents, request by request. */
export class Comparison {
  readonly newlyDenied = new Changed();
  readonly newlyAllowed = new Changed();

  add(now: Replayed, before: Replayed): void {
    if (before.allowed && !now.allowed) this.newlyDenied.add(now.deniedBy!);
    if (!before.allowed && now.allowed) this.newlyAllowed.add(before.deniedBy!);
  }
}
