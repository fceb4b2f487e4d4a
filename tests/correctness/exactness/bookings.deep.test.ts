import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { run } from '../../support/run.js';
import { cases } from './oracles.js';

/** Calls, waits and cancelled waits at random, over one policy or several: the moments at which calls go obey every rule. */
const WALKS = Number(process.env.SLUICE_EXACTNESS_WALKS ?? 10_000);

let bookings: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  bookings = await bundle(join(__dirname, 'bookings.ts'));
});
afterAll(() => bookings.remove());

const walk = (walks: number, ...policy: readonly string[]) =>
  run(process.execPath, [bookings.file, String(Math.ceil(walks)), ...policy], { timeoutMs: 600_000 });

const names = Object.keys(cases);

test.each(names)(
  '%s: nobody goes who must not, in order of coming, and what was cancelled is free again',
  async (name) => {
    expect(await walk(WALKS / names.length, name)).toEqual({ ok: true, output: '' });
  },
  600_000,
);

test('several policies: the same, for each of them', async () => {
  expect(await walk(WALKS / 2)).toEqual({ ok: true, output: '' });
}, 600_000);
