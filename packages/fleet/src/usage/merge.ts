import { CAPACITY, type Counted, type Summary } from './summary.js';

interface Sum {
  count: number;
  error: number;
  /** `unlisted` of the summaries that list the key. */
  listed: number;
  policy: string | undefined;
  /** The count of the summary that named `policy`. */
  ofPolicy: number;
}

/**
 * One summary of several streams, with at most `most` keys, the heaviest first. Errors add up. A key that a summary does not list may have
 * had its `unlisted` there: its count and its error grow by that. The policy of a key comes from the summary with its largest count.
 *
 * With `most` ≥ 256 its errors and `unlisted` stay within total / 256, however often summaries are merged: Agarwal et al., "Mergeable
 * Summaries", 2012.
 */
export function mergeSummaries(summaries: readonly Summary[], most = CAPACITY): Summary {
  const sums = new Map<string, Sum>();
  let total = 0;
  let unlisted = 0;
  for (const summary of summaries) {
    total += summary.total;
    unlisted += summary.unlisted;
    for (const { key, count, error, policy } of summary.entries) {
      const sum = sums.get(key);
      const ofPolicy = policy === undefined ? 0 : count;
      if (sum === undefined) {
        sums.set(key, { count, error, listed: summary.unlisted, policy, ofPolicy });
      } else {
        sum.count += count;
        sum.error += error;
        sum.listed += summary.unlisted;
        if (ofPolicy > sum.ofPolicy) Object.assign(sum, { policy, ofPolicy });
      }
    }
  }
  const entries = [...sums].map(([key, { count, error, listed, policy }]): Counted => {
    const missed = unlisted - listed;
    return { key, count: count + missed, error: error + missed, policy };
  });
  return heaviest({ entries, total, unlisted }, most);
}

/** The `most` heaviest keys of a summary, the heaviest first. Of equals, those with the smaller error. */
export function heaviest({ entries, total, unlisted }: Summary, most: number): Summary {
  const sorted = [...entries].sort(
    (a, b) => b.count - a.count || a.error - b.error || (a.key < b.key ? -1 : 1),
  );
  return {
    entries: sorted.slice(0, most),
    total,
    unlisted: Math.max(unlisted, sorted[most]?.count ?? 0),
  };
}
