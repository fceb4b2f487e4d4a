import type { RequestView } from '@sluice/http';
import type { RuleSet } from '../rule-set.js';
import { Combinations } from './combinations.js';
import { Rollout } from './rollout.js';

/** A document in force, with the combinations of its rules. */
export class Version {
  readonly combinations = new Combinations();

  constructor(readonly set: RuleSet) {}
}

/** The active versions: one, or two during a rollout. A request gets one of them, and keeps it until it ends. */
export class InForce {
  readonly latest: Version;
  /** The version of callers outside the rollout. */
  readonly before: Version | undefined;
  readonly #rollout: Rollout | undefined;

  /** @param before needed by a `rollout` below 100 percent; without it, all callers get the latest version */
  constructor(set: RuleSet, before?: RuleSet) {
    this.latest = new Version(set);
    if (before === undefined) return;
    this.before = new Version(before);
    this.#rollout = new Rollout(set, before);
  }

  get versions(): readonly Version[] {
    return this.before === undefined ? [this.latest] : [this.latest, this.before];
  }

  ofRequest(request: RequestView): Version {
    return this.#rollout === undefined || this.#rollout.of(request) === this.latest.set
      ? this.latest
      : this.before!;
  }

  /** The version for holds, which have no request: the version before, while it has the meter. */
  ofMeter(name: string): RuleSet {
    return this.before?.set.meters.has(name) ? this.before.set : this.latest.set;
  }

  /** The version for code, which has no request: the version before, while it has the rule. */
  ofRule(name: string): RuleSet {
    return this.before?.set.rule(name) === undefined ? this.latest.set : this.before.set;
  }
}
