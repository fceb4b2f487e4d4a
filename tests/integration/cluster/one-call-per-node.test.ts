import type { Cluster } from 'ioredis';
import { fixedWindow, redisStore, tokenBucket } from '../../../packages/core/src/index.js';
import { KINDS, OwnCluster } from './own-cluster.js';

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
    'calls of one turn for keys of all slots are a few script calls: %j',
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

test('a cluster that refuses keys that are not declared gets a script call for each slot', async () => {
  const client: Cluster = own.open(
    Object.assign(KINDS[0]!.connect(own.addresses), { close: () => client.disconnect() }),
  );
  let refused = 0;
  const refuse = (node: { evalshaBuffer: (...all: never[]) => Promise<unknown> }) => {
    const send = node.evalshaBuffer.bind(node);
    node.evalshaBuffer = (...all: never[]) => {
      if (all[1] !== 0) return send(...all);
      refused += 1;
      return Promise.reject(new Error("CROSSSLOT Keys in request don't hash to the same slot"));
    };
  };
  client.on('+node', refuse as never);
  const store = own.open(redisStore(client));
  const limiter = own.limiter({ policy: fixedWindow({ limit: 2, window: '1h' }), store, denyCache: false });
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
});
