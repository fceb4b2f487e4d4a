import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { run } from '../../support/run.js';
import { cases } from './oracles.js';

/** Random calls, waits and cancelled waits, over one policy or several: the moments at which calls pass obey every rule. */
const WALKS = Number(process.env.SLUICE_EXACTNESS_WALKS ?? 5_000);

let bookings: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  bookings = await bundle(join(__dirname, 'bookings.ts'));
});
afterAll(() => bookings.remove());

const walk = (walks: number, ...policy: readonly string[]) =>
  run(process.execPath, [bookings.file, String(Math.ceil(walks)), ...policy], { timeoutMs: 600_000 });

const names = Object.keys(cases);

test.each(names)(
  '%s: calls pass in their order within the limit, and cancelled permits are free again',
  async (name) => {
    expect(await walk(WALKS / names.length, name)).toEqual({ ok: true, output: '' });
  },
  600_000,
);

test('several policies: calls pass within each limit, and cancelled permits are free again', async () => {
  expect(await walk(WALKS / 2)).toEqual({ ok: true, output: '' });
}, 600_000);
