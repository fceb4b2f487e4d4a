import { fixedWindow } from '../../../../packages/core/src/index.js';
import { record } from '../../../faults/table.js';
import { type Contest, contests } from '../contests.js';
import type { Fleet, Outcome } from '../fleet.js';
import { idealWindows } from '../ideal.js';
import { inNamedWindows } from '../judge.js';
import { aligned, byKey, idealOf, type Losses, percent, permits, reigns, violations } from '../outcome.js';

/** Permits of an hour: only lost state admits them again, which makes extra permits countable. */
const AN_HOUR = 400;
const HOUR = 3_600_000_000;
const KEYS = 4;

/** Every rate algorithm, and last the hour. */
const all: readonly Contest[] = [
  ...contests,
  {
    name: 'fixedWindow, an hour',
    policy: fixedWindow({ limit: AN_HOUR, window: '1h' }),
    judge: inNamedWindows(AN_HOUR, HOUR),
    ideal: () => idealWindows(AN_HOUR, HOUR, 'first-hit'),
  },
];

export const KEY_NUMBERS = Array.from({ length: KEYS * all.length }, (_, key) => key);

const table: string[][] = [
  ['', 'calls', 'answered', 'resets', 'losses', 'admitted', 'of the ideal', 'most extra, of a limit'],
];
export const printTable = (): void => void process.stdout.write(`\n${aligned(table)}\n\n`);

/** ms between two resets of a process, on average. */
const RESET_EACH = 1_000;

/**
 * Races for all algorithms at once during faults. Between two losses of state every promise holds exactly, so each loss can cost at most
 * one limit; the hourly limit counts the cost.
 * @param meanwhile causes the faults; returns when each key's state was lost, in whole or in part
 */
export async function trial(fleet: Fleet, name: string, meanwhile: () => Promise<Losses>): Promise<Outcome> {
  let losses: Losses = () => [];
  const raceRun = {
    kind: 'consume',
    name,
    policies: all.map(({ policy }) => policy),
    keys: KEYS,
    inFlight: 32,
    resetEach: RESET_EACH,
  } as const;
  const outcome = await fleet.run(raceRun, async () => {
    losses = await meanwhile();
  });
  const { calls, resets, answers } = outcome;

  const admitted = answers.filter(({ allowed }) => allowed);
  const isOfContest = (contest: number) => (key: number) => Math.floor(key / KEYS) === contest;
  const found = all.flatMap(({ judge, name: contest }, i) =>
    violations(
      admitted.filter(({ key }) => isOfContest(i)(key)),
      judge,
      losses,
    ).map((violation) => `${contest}: ${violation}`),
  );
  // Without the hourly limit: the ideal starts with a full hour after a loss, a replica with the part that it had.
  const rates = all.slice(0, -1).flatMap(({ ideal }, i) => {
    const ofContest = answers.filter(({ key }) => isOfContest(i)(key));
    return {
      admitted: permits(ofContest.filter(({ allowed }) => allowed)),
      ideal: permits(idealOf(ofContest, ideal, losses)),
    };
  });
  const sum = (what: 'admitted' | 'ideal') => rates.reduce((total, rate) => total + rate[what], 0);
  const share = sum('admitted') / sum('ideal');
  const hours = [...byKey(admitted.filter(({ key }) => isOfContest(all.length - 1)(key)))].map(
    ([key, calls]) => ({
      extra: Math.max(0, permits(calls) - AN_HOUR),
      most: AN_HOUR * losses(key).length,
    }),
  );
  const extra = Math.max(...hours.map((hour) => hour.extra)) / AN_HOUR;
  const lost = Math.max(...KEY_NUMBERS.map((key) => losses(key).length));
  table.push([
    name,
    ...[calls, answers.length, resets, lost, admitted.length].map(String),
    percent(share),
    percent(extra),
  ]);

  expect(found).toEqual([]);
  expect(hours.filter((hour) => hour.extra > hour.most)).toEqual([]);
  expect(share).toBeGreaterThanOrEqual(0.85);
  // Each key had answers and admitted calls before, between and after the losses.
  const counts = KEY_NUMBERS.slice(0, -KEYS).flatMap((key) =>
    reigns(byKey(admitted).get(key) ?? [], losses(key)).map(({ length }) => length),
  );
  expect(Math.min(...counts)).toBeGreaterThan(0);
  expect(answers.length).toBeGreaterThanOrEqual(2_000);
  expect(answers.length - admitted.length).toBeGreaterThan(50);
  record({
    ...{ group: 'race of eight processes', fault: `every rate: ${name}` },
    seen: `${answers.length} decisions, ${percent(share)} of what an ideal limiter admits`,
    counted: `none too many; of an hour's limit ${percent(extra)} extra, of ${percent(lost)} that may be`,
  });
  return outcome;
}
