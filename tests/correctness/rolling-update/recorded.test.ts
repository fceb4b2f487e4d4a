import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { ManualClock, type RateLimiter, SharedLimiter } from '../../../packages/core/src/index.js';
import { LAYOUT } from '../../../packages/core/src/limiter/limits.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { RedisAt } from '../simulate/redis-at.js';
import { histories, limiterOn, policies } from './histories.js';

// A process of the last release and one of the next share their keys while a deployment replaces one by the other. Until there is a
// released tarball to start, its side is recorded: `states.json` has the values that each history leaves in Redis, and what a key
// still has by them. A change of a recorded value is a change of the layout: see docs/operations.md, "Rolling updates".
// `SLUICE_RECORD=states npx jest tests/correctness/rolling-update/recorded` writes the file again.

interface Recorded {
  /** In hexadecimal; `NAME` is the limiter's name. */
  readonly values: Readonly<Record<string, string>>;
  /** What a call would get, some minutes after the calls of the history; and what one call gets. */
  readonly remains: readonly string[];
}

const FILE = join(__dirname, 'states.json');
const MINUTE = 60_000_000;
const recorded: Record<string, Recorded> = JSON.parse(readFileSync(FILE, 'utf8'));
const recording = process.env.SLUICE_RECORD === 'states';
const cases = Object.keys(policies).flatMap((policy) =>
  Object.keys(histories).map((history) => [policy, history] as const),
);

const admin = new Redis(redisUrl());
const clock = new ManualClock();
const store = new RedisAt(admin, clock);
let name: string;
let limiter: RateLimiter;

beforeEach(() => {
  name = uniqueName('recorded');
  clock.set(START);
});

afterEach(async () => {
  await limiter.close();
  const keys = await admin.keys(`sluice:*${name}*`);
  if (keys.length > 0) await admin.del(...keys);
});

afterAll(() => {
  admin.disconnect();
  if (recording) writeFileSync(FILE, `${JSON.stringify(recorded, null, 2)}\n`);
});

async function valuesOf(key: string): Promise<Record<string, string>> {
  const stored = (await admin.keys(`sluice:${LAYOUT}:*${name}*:{${key}}*`)).sort();
  const values = await Promise.all(
    stored.map(async (one) => [one.replace(name, 'NAME'), (await admin.getBuffer(one))!.toString('hex')]),
  );
  return Object.fromEntries(values);
}

async function remainsAfter(minutes: number): Promise<string> {
  clock.set(START + minutes * MINUTE);
  const { remaining, retryAfter, resetAfter, debug } = await limiter.peek('k', { debug: true });
  const { booked, blockedUntil, overridden } = debug!.policies[0]!;
  return [
    `after ${minutes} min: ${remaining} remaining`,
    ...(retryAfter > 0 ? [`retry after ${retryAfter / 1000} s`] : []),
    ...(resetAfter > 0 ? [`reset after ${resetAfter / 1000} s`] : []),
    ...(booked.length > 0 ? [`waiting: ${booked.map(({ cost }) => cost).join(' and ')}`] : []),
    ...(blockedUntil > clock.now() ? [`blocked for ${(blockedUntil - clock.now()) / 1_000_000} s`] : []),
    ...(overridden ? ['overridden'] : []),
  ].join(', ');
}

const remains = async (): Promise<string[]> => {
  const all: string[] = [];
  for (const minutes of [0, 20]) all.push(await remainsAfter(minutes));
  const { allowed } = await limiter.consume('k');
  all.push(allowed ? 'a call is allowed' : 'a call is denied');
  for (const minutes of [50, 110]) all.push(await remainsAfter(minutes));
  return all;
};

test.each(cases)('%s, %s: a call writes the recorded value', async (policy, history) => {
  const policyOf = policies[policy]!;
  limiter = limiterOn(store, name, policyOf(10));
  await histories[history]!(limiter, policyOf);
  const values = await valuesOf('k');
  if (recording) recorded[`${policy}: ${history}`] = { values, remains: await remains() };
  expect(values).toEqual(recorded[`${policy}: ${history}`]!.values);
});

test.each(cases)('%s, %s: a call reads the recorded value', async (policy, history) => {
  const { values, remains: expected } = recorded[`${policy}: ${history}`]!;
  for (const [key, value] of Object.entries(values)) {
    await admin.set(key.replace('NAME', name), Buffer.from(value, 'hex'));
  }
  limiter = limiterOn(store, name, policies[policy]!(10));
  expect(await remains()).toEqual(expected);
});

/** 10 permits an hour: the rate's version, how long it is kept, whether each client has it alone, parameters of its algorithm. */
const RATE = '4318aa66e831800042341dd7600000000000000000000000402400000000000041ead27480000000';

test('a SharedLimiter writes and reads the recorded rate', async () => {
  const shared = new SharedLimiter({ name, store: storeOnDefaults(admin), deadline: '30s' });
  const rate = { rate: 10, interval: '1h', keepAliveTime: '1d' } as const;
  await shared.setRate(rate);
  const key = `sluice:${LAYOUT}:shared:{${name}}:rate`;
  const written = (await admin.getBuffer(key))!.toString('hex');
  // All but the version, which is the time.
  expect(written.slice(16)).toBe(RATE.slice(16));
  await admin.set(key, Buffer.from(RATE, 'hex'));
  expect(await shared.getConfig()).toEqual({
    ...{ mode: 'OVERALL', rate: 10, interval: 3_600_000, keepAliveTime: 86_400_000 },
  });
  await shared.close();
});

test('nothing else is recorded', () => {
  expect(Object.keys(recorded)).toEqual(cases.map(([policy, history]) => `${policy}: ${history}`));
});
