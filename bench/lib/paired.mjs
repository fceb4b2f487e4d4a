import { median } from './measure.mjs';

/** µs of CPU of each of many calls. @param inFlight how many are under way at once */
async function cpuOf(call, { calls, inFlight }) {
  const before = process.cpuUsage();
  let begun = 0;
  const worker = async () => {
    while (begun++ < calls) await call();
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / calls;
}

/**
 * What each of several calls costs beyond a bare one, by pairs of runs in one process. Every other round runs backwards.
 * @param pairs `{ bare, call }`, each an async function
 * @returns for each pair the figures below `pairedHeads`, as text
 */
export async function pairedRows(pairs, { runs, ...load }) {
  const cells = pairs.map((pair) => ({ ...pair, added: [], share: [] }));
  // The first round warms up.
  for (let round = 0; round <= runs; round += 1) {
    for (const { bare, call, added, share } of round % 2 === 0 ? cells : cells.toReversed()) {
      const without = await cpuOf(bare, load);
      const cost = (await cpuOf(call, load)) - without;
      if (round === 0) continue;
      added.push(cost);
      share.push((100 * cost) / without);
    }
  }
  return cells.map(({ added, share }) =>
    [median(added), Math.min(...added), Math.max(...added), median(share)].map((figure) => figure.toFixed(1)),
  );
}

/** @param all what a bare call is: 'an operation' */
export const pairedHeads = (all) => ['µs of CPU', 'least', 'most', `% of ${all}`];
