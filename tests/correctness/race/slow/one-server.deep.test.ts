import { setTimeout as sleep } from 'node:timers/promises';
import { type RedisServer, startRedis } from '../../../support/redis/redis-server.js';
import { testClient } from '../../../support/redis/test-client.js';
import { Fleet } from '../fleet.js';
import { holdersTrial, printHolders } from './holders-trial.js';
import { printTable, trial } from './trial.js';

// The race on one server that is killed, frozen or loses its scripts, while connections are reset.

let redis: RedisServer;
let fleet: Fleet;

beforeAll(async () => {
  redis = await startRedis();
  fleet = await Fleet.start(8, { kind: 'server', url: redis.url });
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  await redis?.stop();
  printTable();
  printHolders();
});

/** @returns when it was killed, µs */
async function restarts(): Promise<number[]> {
  const moments: number[] = [];
  for (let time = 0; time < 3; time += 1) {
    await sleep(1_500);
    await redis.kill();
    moments.push(Date.now() * 1000); // no longer up, and not up again
    await redis.restart();
  }
  await sleep(2_000);
  return moments;
}

async function resets(): Promise<number[]> {
  await sleep(4_000);
  return [];
}

async function freezes(): Promise<number[]> {
  for (let time = 0; time < 5; time += 1) {
    await sleep(600);
    await redis.freeze();
    await sleep(400);
    await redis.thaw();
  }
  await sleep(1_000);
  return [];
}

async function flushes(): Promise<number[]> {
  const admin = testClient(redis.url);
  for (let time = 0; time < 75; time += 1) {
    await admin.script('FLUSH');
    await sleep(40);
  }
  admin.disconnect();
  return [];
}

const FAULTS: readonly [string, () => Promise<readonly number[]>][] = [
  ['resets only', resets],
  ['killed, back with nothing', restarts],
  ['frozen', freezes],
  ['SCRIPT FLUSH', flushes],
];

test.each(FAULTS)(
  'rates hold on one server: %s',
  async (name, fault) => {
    const outcome = await trial(fleet, `one server, ${name}`, async () => {
      const losses = await fault();
      return () => losses;
    });
    expect(outcome.resets).toBeGreaterThanOrEqual(fleet.processes);
  },
  120_000,
);

test.each(FAULTS)(
  'no permit is held twice on one server: %s',
  async (name, fault) => {
    await holdersTrial(fleet, `one server, ${name}`, fault);
  },
  120_000,
);

test('no permit is held twice when holders are frozen for longer than a lease', async () => {
  await holdersTrial(fleet, 'one server, holders frozen', async () => {
    for (let process = 0; process < 3; process += 1) {
      await sleep(700);
      await fleet.pause(process, 1_500);
    }
    await sleep(500);
    return [];
  });
}, 120_000);
