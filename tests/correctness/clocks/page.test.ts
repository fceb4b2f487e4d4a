import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { START } from '../../support/timeline.js';
import { memorySide, redisSide, type Side } from './sides.js';
import { DAY, HOUR, LIMIT, type Subject, subjects, YEAR } from './subjects.js';

let sides: Side[];
beforeAll(() => {
  sides = [memorySide(), redisSide()];
});
afterAll(() => Promise.all(sides.map((side) => side.close())));

const page = readFileSync(join(__dirname, '../../../docs/clocks.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()));

const duration = (micros: number) =>
  micros > HOUR * 2 ? `${micros / HOUR} h` : `${Math.round(micros / 60_000_000)} min`;

/** A cell of the table: the permits left after a jump, and the time until all are back. */
async function cell(side: Side, { policy, window }: Subject, jump: number): Promise<string> {
  const key = side.key(policy);
  const { parts } = await key.ask(START, { operation: 'peek' });
  await key.ask(START, { cost: parts[0]!.remaining });
  const { remaining, reset } = (await key.ask(START + window / 4 + jump, { operation: 'peek' })).parts[0]!;
  return reset === 0 ? `${remaining}` : `${remaining}, ${duration(reset)}`;
}

test.each(Object.entries(subjects))('%s: docs/clocks.md has the measured values', async (name, subject) => {
  const { window } = compilePolicy(subject.policy);
  for (const side of sides) {
    const cells: string[] = [];
    for (const jump of [0, window, -window, -10 * YEAR])
      cells.push(await cell(side, { ...subject, window }, jump));
    expect(rows).toContainEqual(['', name, ...cells, '']);
  }
});

test('a Redis whose clock is in 1970 rejects states that look like foreign values', async () => {
  const key = sides[1]!.key(subjects.gcra!.policy);
  await key.ask(DAY);
  await expect(key.ask(DAY + 1)).rejects.toMatchObject({ name: 'StoreConfigurationError' });
});

test('docs/clocks.md has a row for each subject', () => {
  expect(
    rows
      .slice(2)
      .map(([, name]) => name)
      .sort(),
  ).toEqual(Object.keys(subjects).sort());
  expect(LIMIT).toBe(4);
});
