import { concurrency } from '../../../packages/core/src/index.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { Fleet, type Outcome } from './fleet.js';
import { type Held, heldBy, heldTime, neverMoreHeld } from './judge-of-holders.js';
import { aligned, byKey, percent } from './outcome.js';
import type { RaceRun } from './race-run.js';

// Processes race for held permits through whole limiters: lease queues, leases and renewals. A judge checks every moment by Redis's clock.
// Some holders die, and some replies are lost.

const PROCESSES = 8;
const LIMIT = 5;
const LEASE_MS = 700;
const KEYS = 6;

let redis: RedisServer;
let fleet: Fleet;

beforeAll(async () => {
  redis = await startRedis();
  fleet = await Fleet.start(PROCESSES, { kind: 'server', url: redis.url });
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  await redis?.stop();
});

const raceRun = {
  kind: 'hold',
  policies: [concurrency({ limit: LIMIT, lease: LEASE_MS })],
  keys: KEYS,
  inFlight: 32,
} satisfies Partial<RaceRun>;

const heldIn = ({ answers }: Outcome, leaseMs = LEASE_MS): Held[][] =>
  [...byKey(answers).values()].map((signs) => heldBy(signs, leaseMs * 1000));

test('never more permits are held than the limit, while holders die and replies are lost', async () => {
  const outcome = await fleet.run({ ...raceRun, name: 'holding', calls: 200, resets: 2 });
  const held = heldIn(outcome);
  const seen = outcome.answers.filter(({ moment }) => moment > 0);
  const lasted = seen.at(-1)!.moment - seen[0]!.moment;
  const share = heldTime(held.flat()) / (KEYS * LIMIT * lasted);
  const died = held.flat().filter(({ start, end }) => end - start >= LEASE_MS * 1000).length;
  const rows = [
    ['', 'calls', 'held', 'resets', 'died', 'time that permits were held'],
    ['concurrency', ...[outcome.calls, held.flat().length, outcome.resets, died].map(String), percent(share)],
  ];
  process.stdout.write(`\n${aligned(rows)}\n\n`);

  expect(held.map((ofKey) => neverMoreHeld(LIMIT, ofKey)).filter(Boolean)).toEqual([]);
  expect(held).toHaveLength(KEYS);
  expect(share).toBeGreaterThanOrEqual(0.2);
  expect(outcome.resets).toBeGreaterThanOrEqual(2 * PROCESSES);
  expect(died).toBeGreaterThan(0);
}, 120_000);

test('the judge finds a limit that is one too high, and a lease that ends too early', async () => {
  const outcome = await fleet.run({ ...raceRun, name: 'one-too-high', calls: 200 });
  expect(heldIn(outcome).flatMap((ofKey) => neverMoreHeld(LIMIT - 1, ofKey) ?? [])).not.toEqual([]);
  // If leases were four times as long, other calls would have had the permits of dead holders too early.
  const later = heldIn(outcome, 4 * LEASE_MS);
  expect(later.flatMap((ofKey) => neverMoreHeld(LIMIT, ofKey) ?? [])).not.toEqual([]);
}, 120_000);
