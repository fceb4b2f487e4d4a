import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis-5';
import { Redis as Valkey } from 'iovalkey';
import { createClient, createCluster } from 'redis';
import { fixedWindow, RateLimiter } from '../../packages/core/src/index.js';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { endConnectionsAtOnce } from '../support/redis/end-at-once.js';
import { startRedisCluster } from '../support/redis/redis-cluster.js';
import { startRedisSentinels } from '../support/redis/redis-sentinel.js';
import { startRedis } from '../support/redis/redis-server.js';
import { testClient } from '../support/redis/test-client.js';
import { uniqueName } from '../support/redis-url.js';
import { rethrow } from '../support/rethrow.js';
import { fromRedis } from './callers.js';
import { eventually, rejection } from './own-redis.js';

// Passwords that expire or change while programs run: existing connections work on, and new ones are refused.

const host = '127.0.0.1';
const username = 'app';
const password = 'first';
const login = { username, password };
/** Arguments of each server that create the user. */
const USER = ['--user', 'app', 'on', '>first', '~*', '&*', '+@all'];
const disconnectTimeout = 0;

interface Servers {
  /** Sends a command to each server. */
  ask(command: string, ...args: string[]): Promise<unknown>;
  readonly port: number;
  readonly sentinels?: readonly { readonly host: string; readonly port: number }[];
  stop(): Promise<void>;
}

const opened: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});
endConnectionsAtOnce();

async function oneServer(): Promise<Servers> {
  const server = await startRedis({ args: USER });
  const admin = testClient(server.url);
  opened.push(() => admin.disconnect());
  return {
    ask: (command, ...args) => admin.call(command, ...args),
    port: server.port,
    stop: () => server.stop(),
  };
}

async function cluster(): Promise<Servers> {
  const { nodes, stop } = await startRedisCluster({ args: USER });
  const ask = (command: string, ...args: string[]) =>
    Promise.all(nodes.map((node) => node.ask(command, ...args)));
  return { ask, port: nodes[0]!.port, stop };
}

async function sentinels(): Promise<Servers> {
  const { master, replica, addresses, stop } = await startRedisSentinels();
  const admins = [master, replica].map(({ url }) => testClient(url));
  opened.push(() => admins.map((admin) => admin.disconnect()));
  const ask = (command: string, ...args: string[]) =>
    Promise.all(admins.map((admin) => admin.call(command, ...args)));
  await ask('ACL', 'SETUSER', 'app', 'on', '>first', '~*', '&*', '+@all');
  return { ask, port: master.port, sentinels: addresses, stop };
}

type Borrowed = { on(event: 'error', listener: () => void): unknown };
function borrowed<T extends Borrowed>(client: T, close: (client: T) => unknown): T {
  client.on('error', () => undefined);
  opened.push(() => close(client));
  return client;
}
const ioredis = <T extends Borrowed & { disconnect(): void }>(client: T) =>
  borrowed(client, (one) => one.disconnect());
const nodeRedis = <T extends Borrowed & { isOpen: boolean; destroy(): void }>(client: T) =>
  borrowed(client, (one) => one.isOpen && one.destroy());
const settings = { ...login, disconnectTimeout } as object;
const ofCluster = { redisOptions: settings };

const kinds: readonly [string, () => Promise<Servers>, (servers: Servers) => unknown][] = [
  ['own client', oneServer, ({ port }) => ({ url: `redis://${host}:${port}`, ...login })],
  ['own client, sentinels', sentinels, (of) => ({ sentinels: of.sentinels, name: 'sluice-test', ...login })],
  ['own client, cluster', cluster, ({ port }) => ({ cluster: [{ host, port }], ...login })],
  ['ioredis 6', oneServer, ({ port }) => ioredis(new Redis(port, host, settings))],
  ['ioredis 5', oneServer, ({ port }) => ioredis(new Redis5(port, host, settings))],
  ['iovalkey', oneServer, ({ port }) => ioredis(new Valkey(port, host, settings))],
  ['ioredis 6, cluster', cluster, ({ port }) => ioredis(new Cluster([{ host, port }], ofCluster))],
  ['ioredis 5, cluster', cluster, ({ port }) => ioredis(new Cluster5([{ host, port }], ofCluster))],
  ['node-redis', oneServer, ({ port }) => nodeRedis(createClient({ ...login, socket: { host, port } }))],
  [
    'node-redis, cluster',
    cluster,
    ({ port }) => nodeRedis(createCluster({ rootNodes: [{ socket: { host, port } }], defaults: login })),
  ],
];

test.each(kinds)(
  'an expired password is an outage that the failure policy decides: %s',
  async (_, start, clientOf) => {
    const servers = await start();
    opened.push(() => servers.stop());
    const store = storeOnDefaults(clientOf(servers) as never);
    opened.push(() => store.close());
    const policy = fixedWindow({ limit: 10_000, window: '1h' });
    // Long enough that a stalled Redis does not open the circuit before the password expires.
    const common = { policy, store, deadline: '500ms' } as const;
    const limiter = new RateLimiter({ ...common, name: uniqueName('login'), failurePolicy: 'allow' });
    const telling = new RateLimiter({ ...common, name: uniqueName('login'), failurePolicy: rethrow });
    const changes: string[] = [];
    store.on('degraded', () => changes.push('degraded')).on('recovered', () => changes.push('recovered'));
    await fromRedis(() => limiter.consume('k'));

    await servers.ask('ACL', 'SETUSER', 'app', 'resetpass', '>second');
    expect(await fromRedis(() => limiter.consume('k'))).toMatchObject({ allowed: true });
    await servers.ask('CLIENT', 'KILL', 'USER', 'app');
    await eventually(async () => {
      expect(await limiter.consume('k')).toMatchObject({ allowed: true, source: 'allow' });
      expect(await rejection(telling.consume('k'))).toMatchObject({
        reason: 'WRONGPASS',
        message: expect.stringMatching(
          /the server refuses the login: give redisStore or your client .*WRONGPASS/,
        ),
      });
      expect(changes).toEqual(['degraded']);
    });

    await servers.ask('ACL', 'SETUSER', 'app', '>first');
    await fromRedis(() => limiter.consume('k'));
    await eventually(async () => expect(changes).toEqual(['degraded', 'recovered']));
  },
);
