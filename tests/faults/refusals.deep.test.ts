import { mkdir, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { redisStore } from '../../packages/core/src/index.js';
import { freePort } from '../support/redis/free-port.js';
import { startSlowLoading } from '../support/redis/slow-loading.js';
import { runOutage } from './outage.js';
import { eventually, OwnRedis, rejection } from './own-redis.js';

/** A server that answers that it cannot decide now. */
const redis = new OwnRedis();
const group = 'refusals';
const set = (name: string, value: string | number) => redis.client().config('SET', name, value);
const store = () => redis.open(redisStore(redis.server.url));

test('BUSY (a foreign script does not end) lets the failure policy decide', async () => {
  await set('lua-time-limit', 20);
  const [culprit, admin] = [redis.client(), redis.client()];
  await admin.ping();
  let running: Promise<unknown> | undefined;
  await runOutage({
    ...{ group, fault: '`BUSY`: a script that does not end', reasons: ['BUSY'], store: store() },
    begin: async () => {
      running = rejection(culprit.eval('while true do end', 0));
      await eventually(async () => expect(String(await rejection(admin.get('k')))).toMatch(/BUSY/));
    },
    end: async () => {
      await admin.script('KILL');
      await running;
    },
  });
});

test('OOM (full memory, noeviction) lets the failure policy decide', async () => {
  await runOutage({
    ...{ group, fault: '`OOM`: `maxmemory` with `noeviction`', reasons: ['OOM'], store: store() },
    begin: () => set('maxmemory', 1),
    end: () => set('maxmemory', 0),
  });
});

test('MISCONF (it cannot save, and then refuses writes) lets the failure policy decide', async () => {
  const admin = redis.client();
  const folder = (await admin.config('GET', 'dir')) as Record<string, string> | string[];
  const inTheWay = join(Array.isArray(folder) ? folder[1]! : folder.dir!, 'dump.rdb');
  const saved = async (outcome: 'ok' | 'err') => {
    await admin.bgsave();
    await eventually(async () =>
      expect(await admin.info('persistence')).toMatch(`rdb_last_bgsave_status:${outcome}`),
    );
  };
  await runOutage({
    ...{ group, fault: '`MISCONF`: it cannot save', reasons: ['MISCONF'], store: store() },
    begin: async () => {
      await set('save', '3600 1');
      await mkdir(inTheWay);
      await saved('err');
    },
    end: async () => {
      await rmdir(inTheWay);
      await saved('ok');
    },
  });
});

test('NOREPLICAS (too few replicas for writes) lets the failure policy decide', async () => {
  await runOutage({
    ...{
      group,
      fault: '`NOREPLICAS`: `min-replicas-to-write` not met',
      reasons: ['NOREPLICAS'],
      store: store(),
    },
    begin: () => set('min-replicas-to-write', 1),
    end: () => set('min-replicas-to-write', 0),
  });
});

test.each([
  ['READONLY', 'it has become a replica', 'yes'],
  ['MASTERDOWN', 'a replica that has lost its master', 'no'],
] as const)('%s (%s) lets the failure policy decide', async (reason, how, servesStaleData) => {
  // Our own client closes the connection to a server that refuses writes, and may reconnect too late on a busy machine.
  const between = reason === 'READONLY' ? (['connection', 'timeout'] as const) : [];
  const admin = redis.client();
  const nobody = await freePort();
  await set('replica-serve-stale-data', servesStaleData);
  await runOutage({
    ...{ group, fault: `\`${reason}\`: ${how}`, reasons: [reason, ...between], store: store() },
    begin: () => admin.replicaof('127.0.0.1', nobody),
    end: () => admin.replicaof('NO', 'ONE'),
  });
});

test.each([
  ['our own client, which waits until it is loaded', true, ['connection', 'timeout', 'LOADING']],
  ['a client that does not check whether it is ready', false, ['connection', 'timeout', 'LOADING']],
] as const)('LOADING lets the failure policy decide: %s', async (who, own, reasons) => {
  const server = await startSlowLoading();
  redis.open({ close: () => server.stop() });
  const client = own
    ? server.url
    : redis.client(server.url, { enableReadyCheck: false, maxRetriesPerRequest: 0, retryStrategy: () => 20 });
  const admin = redis.client(server.url);
  await runOutage({
    ...{ group, fault: `\`LOADING\`: ${who}`, reasons, store: redis.open(redisStore(client)) },
    begin: async () => {
      await admin.save();
      await server.restart('loading');
    },
    end: async () => {
      await server.hurry();
      await eventually(() => admin.get('filler:1'));
    },
  });
});
