import { performance } from 'node:perf_hooks';
import {
  type Answer,
  type Decider,
  type Decision,
  type Part,
  type Store,
  storageKey,
  type WindowView,
} from '@sluice/core';
import {
  type CallObserver,
  type CallParts,
  isDegraded,
  isStoreRefusal,
  RecentMap,
  THRESHOLD,
  type Thresholds,
  unref,
  warnOnce,
} from '@sluice/core/internal';
import { levelsReached, nameOfLevel } from './notify-options.js';

/** Keys that are remembered at once. */
const MOST_KEYS = 10_000;
/** ms until a key is looked at again if a look did not find what a call had seen, as with bookings and blocks. */
const PAUSE = 1_000;
/** ms that a report is remembered after its window. */
const LONGER = 60_000;

/** A key at or above a threshold. */
interface WatchedKey {
  /** How many levels calls have seen reached, of which limit, and the end of their window; undefined if a look did not find them. */
  level: number;
  limit: number;
  end: number | undefined;
  /** The window, and the limit in it, of which `reported` levels were reported, by this process or another. */
  window: { readonly end: number; readonly limit: number } | undefined;
  reported: number;
  /** A look is on its way. */
  isLooking: boolean;
  /** ms: until then only a higher level causes a look at once. */
  pausedUntil: number;
  /** A look when the pause is over. */
  later: NodeJS.Timeout | undefined;
}

/**
 * Publishes each threshold of a key once in a window and for a limit, for all processes. A call that finds a threshold reached causes a look at the exact
 * count, and then a claim in the store, which one process wins. Nothing waits for this, and below the thresholds there is nothing to do.
 */
export class ThresholdWatch implements CallObserver {
  readonly #keys = new RecentMap<string, WatchedKey>(MOST_KEYS, ({ isLooking }) => isLooking);

  constructor(
    readonly store: Store,
    readonly decider: Decider,
  ) {}

  decided(call: CallParts, _: Decision, answer: Answer, shadow: boolean): void {
    if (!shadow) this.charged(call, answer);
  }

  failed(): void {}

  /** Looks at the keys of a call that are at or above a threshold. While the store is out, counts are not those of the fleet. */
  charged({ parts }: CallParts, answer: Answer): void {
    if (!THRESHOLD.hasSubscribers || isDegraded(answer)) return;
    for (let i = 0; i < parts.length; i += 1) {
      const { notify, rule } = parts[i]!.limit;
      if (notify === undefined || parts[i]!.cost === 0) continue;
      const { remaining, reset, override } = answer.parts[i]!;
      const { limit } = override === undefined ? rule : rule.algorithm.figures.size(override);
      const level = levelsReached(notify, limit, limit - remaining);
      if (level > 0) this.#reached(parts[i]!, notify, { level, limit, end: answer.now + reset });
    }
  }

  #reached(part: Part, thresholds: Thresholds, seen: SeenLevel): void {
    const { level, limit, end } = seen;
    const name = storageKey(part);
    const known = this.#keys.get(name);
    if (known === undefined) {
      const key = newKey(seen);
      this.#keys.set(name, key);
      void this.#look(part, thresholds, key);
      return;
    }
    const isSameLimit = known.limit === limit;
    if (known.end === end && isSameLimit && level <= known.level) return;
    const isHigher = level > known.level || !isSameLimit;
    known.level = known.end === end && isSameLimit ? Math.max(level, known.level) : level;
    known.limit = limit;
    known.end = end;
    if (known.isLooking) return;
    const pause = known.pausedUntil - performance.now();
    if (isHigher || pause <= 0) void this.#look(part, thresholds, known);
    else known.later ??= unref(setTimeout(() => void this.#look(part, thresholds, known), pause));
  }

  /** Looks until it has found the level that the latest call saw. */
  async #look(part: Part, thresholds: Thresholds, key: WatchedKey): Promise<void> {
    if (key.isLooking) return;
    key.isLooking = true;
    clearTimeout(key.later);
    key.later = undefined;
    let { level, limit, end } = key;
    let isFound = false;
    do {
      ({ level, limit, end } = key);
      isFound = await this.#report(part, thresholds, key).catch((error) => this.#lost(thresholds, error));
    } while (key.level !== level || key.limit !== limit || key.end !== end);
    key.isLooking = false;
    if (isFound) return;
    key.end = undefined;
    key.pausedUntil = performance.now() + PAUSE;
  }

  /** Reports the levels that are reached. @returns whether these are all that a call saw */
  async #report(part: Part, thresholds: Thresholds, key: WatchedKey): Promise<boolean> {
    const { level: wanted } = key;
    const looked = { limit: part.limit, key: part.key, cost: part.cost, at: 0 };
    const look = { operation: 'peek', wait: 0, parts: [looked], traced: true } as const;
    const answer = await this.decider.decide(look);
    const { trace } = answer.parts[0]!;
    if (isDegraded(answer) || trace === undefined) return false;
    const view = part.limit.rule.algorithm.figures.view(
      trace.parameters,
      trace.after,
      answer.now,
    ) as WindowView;
    const { end, limit } = view;
    if (end === undefined) return false;
    if (key.window?.end !== end || key.window.limit !== limit) {
      key.window = { end, limit };
      key.reported = 0;
    }
    // Of prefetched permits the store also counts those that no call has used yet.
    const reached = Math.min(wanted, levelsReached(thresholds, limit, view.used));
    while (key.reported < reached) {
      const level = thresholds.levels[key.reported]!;
      const { prefix, suffix } = thresholds;
      const claim = `${prefix}${part.key}${suffix}:${level}:${limit}:${end}`;
      const isFirst = await this.store.claim!(claim, Math.ceil((end - answer.now) / 1000) + LONGER);
      key.reported += 1;
      if (isFirst) publish(thresholds, part.key, level, view as Required<WindowView>);
    }
    return reached === wanted;
  }

  /** A later call of the key tries again. */
  #lost({ limiter }: Thresholds, error: unknown): false {
    if (isStoreRefusal(error)) {
      const { message } = error;
      warnOnce(
        'SLUICE_THRESHOLD_LOST',
        limiter,
        `Limiter '${limiter}': a threshold cannot be reported: ${message}`,
      );
    }
    return false;
  }
}

/** What a call has seen. */
type SeenLevel = { readonly level: number; readonly limit: number; readonly end: number };

const newKey = (seen: SeenLevel): WatchedKey => ({
  ...seen,
  window: undefined,
  reported: 0,
  isLooking: false,
  pausedUntil: 0,
  later: undefined,
});

function publish(
  { limiter, policy }: Thresholds,
  key: string,
  level: number,
  { limit, used, start, end }: Required<WindowView>,
): void {
  THRESHOLD.publish({
    limiter,
    policy,
    key,
    threshold: nameOfLevel(level),
    limit,
    used,
    windowStart: start! / 1000,
    windowEnd: end! / 1000,
  });
}
