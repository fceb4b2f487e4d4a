import type { Cluster } from 'ioredis';
import { createCluster, RESP_TYPES } from 'redis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { fixedWindow, redisStore, tokenBucket } from '../../../packages/core/src/index.js';
import { slotOf } from '../../../packages/core/src/stores/redis/cluster.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { KINDS, OwnCluster } from './own-cluster.js';

const given = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;
const own = new OwnCluster();
const KEYS = 60;
const users = Array.from({ length: KEYS }, (_, i) => `user-${i}`);

/** Script calls of all nodes since the last `CONFIG RESETSTAT`. */
async function scriptCalls(): Promise<number> {
  const infos = await Promise.all(own.nodes.map(({ ask }) => ask('INFO', 'commandstats')));
  const counts = infos.flatMap((info) => [...String(info).matchAll(/cmdstat_eval(?:sha)?:calls=(\d+)/g)]);
  return counts.reduce((sum, [, calls]) => sum + Number(calls), 0);
}

describe.each(KINDS)('$name', (kind) => {
  test.each([fixedWindow({ limit: 3, window: '1h' }), tokenBucket({ capacity: 3, refill: 3, every: '1h' })])(
    'calls of one turn for keys of all slots make few script calls: %j',
    async (policy) => {
      const limiter = own.limiter({ policy, store: own.store(kind), denyCache: false });
      const all = () => Promise.all(users.map((user) => limiter.consume(user)));
      await all(); // connects
      await Promise.all(own.nodes.map(({ ask }) => ask('CONFIG', 'RESETSTAT')));
      for (const remaining of [1, 0]) {
        expect(await all()).toEqual(
          users.map(() => expect.objectContaining({ allowed: true, remaining, source: 'redis' })),
        );
      }
      expect((await all()).filter(({ allowed }) => allowed)).toEqual([]);
      expect(await scriptCalls()).toBeLessThan(KEYS / 2); // of 3 times 60 calls
    },
  );
});

test('a client that returns numbers as text finds a moved key', async () => {
  const client = createCluster({
    rootNodes: own.nodes.map(({ url }) => ({ url })),
    defaults: { commandOptions: { typeMapping: { [RESP_TYPES.NUMBER]: String } } } as object,
  });
  own.open({ close: () => client.destroy() });
  const store = own.open(redisStore(client as never));
  const limiter = own.limiter({ policy: fixedWindow({ limit: 3, window: '1h' }), store });
  const all = () => Promise.all(users.map((user) => limiter.consume(user)));
  await all();
  const [from, to] = own.nodes;
  const key = await own.keyOn(from!);
  await limiter.consume(key);
  const slot = slotOf(key);
  await own.move(slot, from!, to!);
  try {
    const decisions = await Promise.all([key, ...users].map((user) => limiter.consume(user)));
    expect(decisions.map(({ source, remaining }) => [source, remaining])).toEqual(
      [key, ...users].map(() => ['redis', 1]),
    );
  } finally {
    await own.move(slot, to!, from!);
  }
});

test('a call of a moved key is answered before the store closes', async () => {
  const policy = fixedWindow({ limit: 3, window: '1h' });
  const store = own.store();
  const limiter = own.limiter({ policy, store });
  await Promise.all(users.map((user) => limiter.consume(user)));
  const [from, to] = own.nodes;
  const key = await own.keyOn(from!);
  await limiter.consume(key);
  await own.move(slotOf(key), from!, to!);
  try {
    const calls = [key, ...users].map((user) => limiter.consume(user));
    await Promise.resolve(); // so that the calls are sent
    await store.close();
    const answered = await Promise.all(calls);
    expect(answered.map(({ source, remaining }) => [source, remaining])).toEqual(
      [key, ...users].map(() => ['redis', 1]),
    );
    const after = own.limiter({ policy, name: limiter.name });
    const left = await Promise.all([key, ...users].map((user) => after.peek(user)));
    expect(left.every(({ remaining }) => remaining === 1)).toBe(true);
  } finally {
    await own.move(slotOf(key), to!, from!);
  }
});

test('calls for one slot make one script call, also while its node is connecting', async () => {
  const client = own.client();
  const store = own.open(storeOnDefaults(client));
  const limiter = own.limiter({ policy: fixedWindow({ limit: 3, window: '1h' }), store, hashTag: 'orders' });
  await limiter.consume('first');
  const name = client.slots[slotOf('{orders}')]![0];
  const node = client.nodes('master').find(({ options }) => `${options.host}:${options.port}` === name)!;
  const ended = new Promise((resolve) => client.once('-node', resolve));
  node.disconnect();
  await ended;
  await Promise.all(own.nodes.map(({ ask }) => ask('CONFIG', 'RESETSTAT')));
  const decisions = await Promise.all(users.map((user) => limiter.consume(user)));
  expect(decisions.map(({ remaining }) => remaining)).toEqual(users.map(() => 2));
  expect(await scriptCalls()).toBeLessThan(KEYS / 4);
});

interface Node {
  evalshaBuffer(sha1: string, keys: number, ...rest: string[]): Promise<unknown>;
  evalBuffer(source: string, keys: number, ...rest: string[]): Promise<unknown>;
}

/** A Cluster whose nodes answer script calls without declared keys by `answer`. */
function clusterAnswering(answer: (node: Node, args: string[]) => Promise<unknown>): Cluster {
  const client: Cluster = own.client(undefined, { retryDelayOnFailover: 0 });
  client.on('+node', (node: Node) => {
    const send = node.evalshaBuffer.bind(node);
    node.evalshaBuffer = (sha1, keys, ...rest) => (keys > 0 ? send(sha1, keys, ...rest) : answer(node, rest));
  });
  return client;
}

const crossSlot = () => Promise.reject(new Error("CROSSSLOT Keys in request don't hash to the same slot"));
// Such a script may use keys of one slot only: Redis refuses a second slot in the middle of the script.
const oneSlotOnly = (node: Node, args: string[]) =>
  node.evalBuffer(`#!lua\n${decideScript.source}`, 0, ...args);

describe('a cluster that refuses undeclared keys', () => {
  let warned: jest.SpyInstance;
  beforeEach(() => {
    given.clear();
    warned = jest.spyOn(process, 'emitWarning').mockReturnValue();
  });
  afterEach(() => warned.mockRestore());

  test.each([
    ['before the script runs', crossSlot, /CROSSSLOT/],
    ['in the script', oneSlotOnly, /do not hash to the same slot/],
  ])('gets a script call for each slot, and causes one warning: %s', async (_, answer, text) => {
    let refused = 0;
    const client = clusterAnswering((node, args) => {
      refused += 1;
      return answer(node, args);
    });
    const stores = [0, 1].map(() => own.open(redisStore(client)));
    const policy = fixedWindow({ limit: 2, window: '1h' });
    for (const store of stores) {
      const limiter = own.limiter({ policy, store });
      const all = () => Promise.all(users.map((user) => limiter.consume(user)));
      for (const remaining of [1, 0]) {
        expect((await all()).map((decision) => [decision.source, decision.remaining])).toEqual(
          users.map(() => ['redis', remaining]),
        );
      }
      expect((await all()).filter(({ allowed }) => allowed)).toEqual([]);
      expect(refused).toBeGreaterThan(0);
      const before = refused;
      await all();
      expect(refused).toBe(before);
    }
    const warnings = warned.mock.calls.filter(([, { code }]) => code === 'SLUICE_DECLARED_KEYS');
    expect(warnings.map(([message]) => String(message))).toEqual([expect.stringMatching(text)]);
  });
});

test('a node that loads its data as a replica still redirects calls of its keys', async () => {
  let answered = 0;
  const client = clusterAnswering(() => {
    answered += 1;
    return Promise.reject(new Error('LOADING Redis is loading the dataset in memory'));
  });
  const limiter = own.limiter({
    policy: fixedWindow({ limit: 2, window: '1h' }),
    store: own.open(redisStore(client)),
  });
  for (const remaining of [1, 0]) {
    const decisions = await Promise.all(users.map((user) => limiter.consume(user)));
    expect(decisions.map((decision) => [decision.source, decision.remaining])).toEqual(
      users.map(() => ['redis', remaining]),
    );
  }
  expect(answered).toBeGreaterThan(1); // such calls do not reject
});
