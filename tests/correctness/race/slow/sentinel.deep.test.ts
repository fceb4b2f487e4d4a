import { setTimeout as sleep } from 'node:timers/promises';
import {
  type RedisSentinels,
  SENTINEL_TEST_MS,
  startRedisSentinels,
} from '../../../support/redis/redis-sentinel.js';
import { Fleet } from '../fleet.js';
import { printTable, trial } from './trial.js';

let servers: RedisSentinels;
let fleet: Fleet;

beforeAll(async () => {
  servers = await startRedisSentinels();
  const { addresses, name } = servers;
  fleet = await Fleet.start(8, { kind: 'sentinels', addresses, name });
}, SENTINEL_TEST_MS);

afterAll(async () => {
  await fleet?.stop();
  await servers?.stop();
  printTable();
});

test(
  'a failover by Sentinels after a killed master admits at most one limit more',
  async () => {
    await trial(fleet, 'Sentinels, a failover', async () => {
      await sleep(2_000);
      await servers.master.kill();
      const losses = [Date.now() * 1000];
      await servers.replaced();
      await sleep(4_000);
      return () => losses;
    });
  },
  SENTINEL_TEST_MS,
);
