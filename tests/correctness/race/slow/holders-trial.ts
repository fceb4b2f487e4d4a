import { concurrency } from '../../../../packages/core/src/index.js';
import { record } from '../../../faults/table.js';
import type { Fleet } from '../fleet.js';
import { heldBy, heldTime, neverMoreHeld } from '../judge-of-holders.js';
import { aligned, byKey, percent } from '../outcome.js';

const LIMIT = 5;
const LEASE_MS = 700;
const KEYS = 6;

const table: string[][] = [
  ['', 'calls', 'held', 'resets', 'losses', 'leases ended', 'time that permits were held'],
];
export const printHolders = (): void => void process.stdout.write(`\n${aligned(table)}\n\n`);

/**
 * Races for held permits during faults. At no moment are more held than the limit; after a server has lost its holders, at most one
 * limit more, for the length of a lease.
 * @param meanwhile causes the faults; returns the moments (µs) at which the server lost its holders
 */
export async function holdersTrial(
  fleet: Fleet,
  name: string,
  meanwhile: () => Promise<readonly number[]>,
): Promise<void> {
  let losses: readonly number[] = [];
  const policies = [concurrency({ limit: LIMIT, lease: LEASE_MS })];
  const raceRun = { kind: 'hold', policies, keys: KEYS, inFlight: 16, resetEach: 1_500 } as const;
  const { calls, resets, answers } = await fleet.run(
    { ...raceRun, name: name.replace(/\W+/g, '-') },
    async () => {
      losses = await meanwhile();
    },
  );
  const held = [...byKey(answers).values()].map((signs) => heldBy(signs, LEASE_MS * 1000, losses));
  const seen = answers.filter(({ moment }) => moment > 0);
  const share = heldTime(held.flat()) / (KEYS * LIMIT * (seen.at(-1)!.moment - seen[0]!.moment));
  const ended = held.flat().filter(({ start, end }) => end - start >= LEASE_MS * 1000).length;
  table.push([
    name,
    ...[calls, held.flat().length, resets, losses.length, ended].map(String),
    percent(share),
  ]);

  expect(held.flatMap((ofKey) => neverMoreHeld(LIMIT, ofKey) ?? [])).toEqual([]);
  const remembered = [...byKey(answers).values()].map((signs) => heldBy(signs, LEASE_MS * 1000));
  const most = losses.length > 0 ? 2 * LIMIT : LIMIT; // the losses are more than a lease apart
  expect(remembered.flatMap((ofKey) => neverMoreHeld(most, ofKey) ?? [])).toEqual([]);
  expect(held).toHaveLength(KEYS);
  expect(share).toBeGreaterThanOrEqual(0.15);
  expect(ended).toBeGreaterThan(0);
  // Every key was held again after the last loss.
  const last = losses.at(-1) ?? 0;
  expect(held.filter((ofKey) => ofKey.some(({ start }) => start > last))).toHaveLength(KEYS);
  record({
    ...{ group: 'race of eight processes', fault: `\`concurrency\`: ${name}` },
    seen: `${held.flat().length} holders, ${ended} of them until their leases ended`,
    counted: 'at no moment one holder too many',
  });
}
