import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';
import { eventually } from '../eventually.js';
import { startRedisCluster } from './redis-cluster.js';
import { startReplica } from './redis-replica.js';
import { SENTINEL_TEST_MS, startRedisSentinels } from './redis-sentinel.js';
import { startRedis } from './redis-server.js';
import { AUTHORITY, startTlsRedis, WRONG_AUTHORITY } from './redis-tls.js';
import { startSlowLoading } from './slow-loading.js';
import { TcpProxy } from './tcp-proxy.js';
import { type ClientOptions, testClient } from './test-client.js';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function client(url: string, options: ClientOptions = {}): Redis {
  const redis = testClient(url, { retryStrategy: () => 50, ...options });
  closers.push(() => redis.disconnect());
  return redis;
}

const open = <T extends { stop(): unknown }>(thing: T): T => {
  closers.push(() => thing.stop());
  return thing;
};

test('a replica has the data of its master, and lags when it is disconnected', async () => {
  const master = open(await startRedis());
  const proxy = await TcpProxy.start(master.port);
  closers.push(() => proxy.close());
  const [writer, reader] = [client(master.url), client(open(await startReplica(proxy.port)).url)];
  await writer.set('a', '1');
  await eventually(async () => (await reader.get('a')) === '1');
  await expect(reader.set('a', '2')).rejects.toThrow('READONLY');

  proxy.blackhole();
  await writer.set('a', '2');
  await reader.replicaof('NO', 'ONE');
  expect(await reader.get('a')).toBe('1');
  await reader.set('a', '3');
});

test(
  'Sentinels replace a killed master',
  async () => {
    const { master, replica, masterPort, replaced } = open(await startRedisSentinels());
    expect(await masterPort()).toBe(master.port);
    await client(master.url).set('a', '1');
    const reader = client(replica.url);
    await eventually(async () => (await reader.get('a')) === '1');
    await master.kill();
    await replaced();
    expect(await reader.set('a', '2')).toBe('OK');
  },
  SENTINEL_TEST_MS,
);

test('a cluster with replicas survives the loss of a master', async () => {
  const cluster = open(await startRedisCluster({ replicas: true }));
  const [lost] = cluster.nodes;
  const [replica] = cluster.replicas;
  expect(cluster.addresses).toHaveLength(6);
  expect(String(await replica!.ask('INFO', 'replication'))).toContain(`master_port:${lost!.port}`);
  await lost!.kill();
  await eventually(async () => /role:master/.test(String(await replica!.ask('INFO', 'replication'))));
  await lost!.restart();
  await cluster.whole();
  expect(String(await lost!.ask('INFO', 'replication'))).toContain(`master_port:${replica!.port}`);
});

test('only clients with its authority trust a server with TLS', async () => {
  const { tlsUrl } = open(await startTlsRedis());
  expect(tlsUrl).toMatch(/^rediss:/);
  const ca = readFileSync(AUTHORITY);
  for (const url of [tlsUrl, tlsUrl.replace('127.0.0.1', 'localhost')]) {
    expect(await client(url, { tls: { ca }, family: 4 }).ping()).toBe('PONG');
  }
  for (const tls of [{ ca: readFileSync(WRONG_AUTHORITY) }, {}]) {
    const doubting = testClient(tlsUrl, { tls, lazyConnect: true, retryStrategy: () => null });
    const errors: NodeJS.ErrnoException[] = [];
    doubting.on('error', (error) => errors.push(error));
    await expect(doubting.connect()).rejects.toThrow();
    expect(errors).toMatchObject([
      { code: expect.stringMatching(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/) },
    ]);
  }
});

test('a server that loads much data answers LOADING until it is ready', async () => {
  const server = open(await startSlowLoading());
  await server.restart('loading');
  const impatient = client(server.url, { enableReadyCheck: false });
  await expect(impatient.get('filler:1')).rejects.toThrow('LOADING');
  await server.hurry();
  await eventually(() => impatient.get('filler:1').then(Boolean, () => false));
});
