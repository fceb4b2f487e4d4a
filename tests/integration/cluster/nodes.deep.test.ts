import fc from 'fast-check';
import {
  type DegradedEvent,
  fixedWindow,
  isStoreUnavailableError,
  type RecoveredEvent,
  type RedisStore,
  redisStore,
} from '../../../packages/core/src/index.js';
import { slotOf } from '../../../packages/core/src/stores/redis/cluster.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { uniqueName } from '../../support/redis-url.js';
import { eventually, KINDS, OwnCluster, rejection } from './own-cluster.js';

const own = new OwnCluster();
const policy = fixedWindow({ limit: 10, window: '1h' });

/** The store's own client, by options alone. */
const ownStore = (options?: Readonly<Record<string, unknown>>): RedisStore =>
  own.open(redisStore({ cluster: own.addresses, ...(options && { options }) }));

const openers: readonly [string, () => RedisStore][] = [
  ['the store’s own', () => ownStore()],
  ['the store’s own, with a keyPrefix', () => ownStore({ keyPrefix: '{app}:' })],
  ...KINDS.map((kind): [string, () => RedisStore] => [kind.name, () => own.store(kind)]),
  ['node-redis', () => own.nodeRedisStore()],
];

test('the slot of a key is the slot that the server computes', async () => {
  const keys = fc.string({ unit: fc.constantFrom('{', '}', 'a', ':', 'é', '語', '😀', '\0'), maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(keys, async (key) => {
      expect(slotOf(key)).toBe(await own.slotOf(key));
    }),
    { numRuns: 1_000 },
  );
});

describe.each(openers)('with a client that is %s', (_, open) => {
  test('a store knows the node of a key', async () => {
    const store = open();
    const limiter = own.limiter({ policy, store });
    const storageKey = (key: string) => `sluice:v2:fw:${limiter.name}:{${key}}`;
    expect(store.slotted).toBe(true);
    const users = Array.from({ length: 30 }, (_, i) => `user-${i}`);
    await Promise.all(users.map((user) => limiter.consume(user)));
    const kept = await own.keys(limiter.name);
    for (const user of users) {
      const holder = own.nodes.findIndex((_, i) => kept[i]!.some((key) => key.endsWith(storageKey(user))));
      expect(store.nodeOf(storageKey(user))).toBe(`127.0.0.1:${own.nodes[holder]!.port}`);
    }
  });
});

test.each([openers[0]!, openers[2]!, openers.at(-1)!])(
  'a lost node fails only calls of its own keys: %s',
  async (_, open) => {
    const store = open();
    const limiter = own.limiter({ policy, store, deadline: '2s', failurePolicy: 'local' });
    const [lost, other] = [own.nodes[1]!, own.nodes[0]!];
    const [lostKey, otherKey] = [await own.keyOn(lost), await own.keyOn(other)];
    await eventually(
      async () => !(await limiter.peek(lostKey)).degraded && !(await limiter.peek(otherKey)).degraded,
    );
    const degraded: DegradedEvent[] = [];
    const recovered: RecoveredEvent[] = [];
    store.on('degraded', (event) => degraded.push(event)).on('recovered', (event) => recovered.push(event));

    await lost.kill();
    await eventually(async () => {
      const calls = Array.from({ length: 5 }, () => limiter.consume(lostKey));
      expect(await limiter.peek(otherKey)).toMatchObject({ degraded: false });
      for (const decision of await Promise.all(calls))
        expect(decision).toMatchObject({ degraded: true, source: 'local' });
      return degraded.length > 0;
    });
    const node = `127.0.0.1:${lost.port}`;
    expect(degraded).toMatchObject([
      { node, error: { reason: expect.stringMatching(/connection|timeout/) } },
    ]);
    // The store knows that the node is out. If each call waited for it, they would take longer than this test may.
    for (let call = 0; call < 100; call += 1) expect((await limiter.peek(lostKey)).degraded).toBe(true);
    expect(await limiter.consume(otherKey)).toMatchObject({ degraded: false, source: 'redis' });

    await lost.restart();
    await own.whole();
    await eventually(async () => !(await limiter.peek(lostKey)).degraded);
    await eventually(async () => recovered.length > 0);
    expect(recovered).toMatchObject([{ node }]);
    expect(degraded).toHaveLength(1);
  },
  60_000,
);

test('a node that is out at the start causes exactly one warning', async () => {
  const emitted = jest.spyOn(process, 'emitWarning').mockReturnValue();
  const [lost, other] = [own.nodes[1]!, own.nodes[0]!];
  const [lostKey, otherKey] = [await own.keyOn(lost), await own.keyOn(other)];
  const store = ownStore();
  const limiter = own.limiter({ policy, store, deadline: '2s', failurePolicy: 'local' });
  const node = `127.0.0.1:${lost.port}`;
  const ofNode = () =>
    emitted.mock.calls.map(([message]) => String(message)).filter((message) => message.includes(` ${node} `));
  try {
    await lost.kill();
    await eventually(async () => {
      await Promise.all(Array.from({ length: 5 }, () => limiter.consume(lostKey)));
      return ofNode().length > 0;
    });
    expect(await limiter.consume(otherKey)).toMatchObject({ source: 'redis' });
    for (let call = 0; call < 10; call += 1)
      expect(await limiter.consume(lostKey)).toMatchObject({ degraded: true });
    expect(ofNode()).toEqual([expect.stringContaining(`${node} is out: `)]);
  } finally {
    await lost.restart();
    await own.whole();
  }
  await eventually(async () => !(await limiter.consume(lostKey)).degraded);
  expect(ofNode().slice(1)).toEqual([expect.stringContaining(`${node} answers again`)]);
  emitted.mockRestore();
}, 60_000);

test('calls that timed out while a node was connecting are never sent', async () => {
  const proxies = await Promise.all(own.nodes.map(({ port }) => TcpProxy.start(port)));
  for (const proxy of proxies) own.open(proxy);
  const natMap = Object.fromEntries(
    own.nodes.map(({ port }, i) => [`127.0.0.1:${port}`, { host: '127.0.0.1', port: proxies[i]!.port }]),
  );
  const limiter = own.limiter({ policy, store: ownStore({ natMap }), deadline: '100ms' });
  const [key, other] = [await own.keyOn(own.nodes[1]!), await own.keyOn(own.nodes[0]!)];
  proxies[1]!.blackhole(); // from the start, because ioredis may read the slots from any node
  await eventually(() => limiter.peek(other).catch(() => undefined));
  for (let call = 0; call < 4; call += 1) {
    expect(isStoreUnavailableError(await rejection(limiter.consume(key)))).toBe(true);
  }
  proxies[1]!.pass();
  const peeked = await eventually(() => limiter.peek(key).catch(() => undefined));
  expect(peeked.remaining).toBe(10);
});

test('before the first call the store knows no nodes and opens no connection', async () => {
  const store = ownStore();
  expect(store.nodeOf(uniqueName('k'))).toBe('');
  expect(store.slotted).toBe(true);
});

test('a cluster that was out at the start emits recovered when it answers', async () => {
  const store = ownStore();
  const limiter = own.limiter({ policy, store, deadline: '500ms', failurePolicy: 'local' });
  const events: [string, string | undefined][] = [];
  store.on('degraded', ({ node }) => events.push(['degraded', node]));
  store.on('recovered', ({ node }) => events.push(['recovered', node]));
  await Promise.all(own.nodes.map((node) => node.kill()));
  await eventually(async () => {
    expect(await limiter.peek('k')).toMatchObject({ degraded: true });
    return events.length > 0;
  });
  await Promise.all(own.nodes.map((node) => node.restart()));
  await own.whole();
  // On a busy machine one node may still answer too late, and have events of its own.
  const ofStore = () => events.filter(([, node]) => node === undefined).map(([name]) => name);
  await eventually(async () => !(await limiter.peek('k')).degraded && ofStore().length > 1);
  expect(ofStore()).toEqual(['degraded', 'recovered']);
}, 60_000);
