import {
  CombinedLimiter,
  fixedWindow,
  gcra,
  isStoreConfigurationError,
  type RateLimiter,
  redisStore,
  slidingLog,
} from '../../../packages/core/src/index.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { testClient } from '../../support/redis/test-client.js';
import { uniqueName } from '../../support/redis-url.js';
import { KINDS, OwnCluster, rejection } from './own-cluster.js';

const own = new OwnCluster();
const few = fixedWindow({ limit: 2, window: '1h' });
const many = gcra({ limit: 100, period: '1h' });

describe.each(KINDS)('combined limiters, $name', (kind) => {
  const members = (tags: readonly (string | undefined)[]) => {
    const store = own.store(kind);
    const [perUser, everybody] = tags.map((hashTag, i) =>
      own.limiter({ policy: [few, many][i]!, store, ...(hashTag && { hashTag }) }),
    );
    return { perUser: perUser!, everybody: everybody! };
  };

  test.each([
    [undefined, undefined],
    ['orders', undefined],
    [undefined, 'orders'],
    ['orders', 'others'],
  ])('with the hash tags %p and %p throw at construction', (...tags) => {
    const limiters = members(tags);
    expect(() => new CombinedLimiter(limiters)).toThrow(TypeError);
    expect(() => new CombinedLimiter(limiters)).toThrow(/give all its limiters the same hashTag/);
  });

  test('with one hash tag are decided together, all or nothing, on one node', async () => {
    const tag = uniqueName('orders');
    const { perUser, everybody } = members([tag, tag]);
    const both = own.open(new CombinedLimiter({ perUser, everybody }));
    const users = Array.from({ length: 20 }, (_, i) => `user-${i}`);
    for (const allowed of [true, true, false]) {
      const decisions = await Promise.all(
        users.map((user) => both.consume({ perUser: user, everybody: 'all' })),
      );
      expect(decisions.filter((decision) => decision.allowed === allowed)).toHaveLength(users.length);
    }
    expect(await everybody.peek('all')).toMatchObject({ remaining: 60 }); // denials took nothing
    const decision = await both.acquire({ perUser: 'ada', everybody: 'all' });
    await both.refund(decision);
    expect(await both.peek({ perUser: 'ada', everybody: 'all' })).toMatchObject({ allowed: true });
    expect(await everybody.peek('all')).toMatchObject({ remaining: 60 });

    const keys = await own.keys(`{${tag}}`);
    expect(keys.filter((ofNode) => ofNode.length > 0)).toHaveLength(1);
    expect(new Set(await Promise.all(keys.flat().map((key) => own.slotOf(key)))).size).toBe(1);
  });
});

describe('keys with braces', () => {
  const hostile = [
    '{',
    '}',
    '{}',
    '}{',
    'a}{b',
    '{same}',
    '}}{{',
    '%7B',
    '{a}{b}',
    '\0}{',
    `${'{'.repeat(300)}}`,
  ];
  const policies = { few, many, log: slidingLog({ limit: 9, window: '1h' }) };

  test('stay in the slot of a hash tag', async () => {
    const hashTag = uniqueName('tag');
    const limiter = own.limiter({ policies, hashTag });
    for (const key of hostile) expect(await limiter.consume(key)).toMatchObject({ allowed: true });
    const keys = (await own.keys(limiter.name)).flat();
    expect(keys).toHaveLength(3 * hostile.length);
    expect(new Set(await Promise.all(keys.map((key) => own.slotOf(key))))).toEqual(
      new Set([await own.slotOf(hashTag)]),
    );
  });

  test('keep the policies of one key in one slot, and share no count with other keys', async () => {
    const limiter = own.limiter({ policies });
    for (const key of hostile)
      expect(await limiter.consume(key)).toMatchObject({ allowed: true, remaining: 1 });
    for (const key of hostile)
      expect(await limiter.consume(key)).toMatchObject({ allowed: true, remaining: 0 });
    for (const key of hostile) expect(await limiter.consume(key)).toMatchObject({ allowed: false });
    expect((await own.keys(limiter.name)).flat()).toHaveLength(3 * hostile.length);
  });

  test('cannot choose a slot', async () => {
    const limiter = own.limiter({ policy: few });
    await Promise.all(Array.from({ length: 60 }, (_, i) => limiter.consume(`{same}${i}`)));
    for (const ofNode of await own.keys(limiter.name)) expect(ofNode.length).toBeGreaterThan(0);
  });
});

describe('a single-server client of a cluster node', () => {
  const alone = () => {
    const client = testClient(own.nodes[0]!.url);
    own.open({ close: () => client.disconnect() });
    return own.open(storeOnDefaults(client));
  };

  test('rejects CROSSSLOT as a configuration error with the remedy', async () => {
    const store = alone();
    expect(store.slotted).toBe(false);
    const [perUser, everybody] = [own.limiter({ policy: few, store }), own.limiter({ policy: many, store })];
    const both = own.open(new CombinedLimiter({ perUser, everybody }));
    const error = await rejection(both.consume({ perUser: 'ada', everybody: 'all' }));
    expect(isStoreConfigurationError(error)).toBe(true);
    expect(String(error)).toMatch(/same hashTag.* Cluster client.*CROSSSLOT/);
    expect((await own.keys(perUser.name)).flat()).toEqual([]);
  });

  test.each(['a client', 'an address'])(
    'rejects a key of another node as a configuration error: %s',
    async (address) => {
      const store = address === 'a client' ? alone() : own.open(redisStore(own.nodes[0]!.url));
      const limiter: RateLimiter = own.limiter({ policy: few, store });
      expect(await limiter.consume(await own.keyOn(own.nodes[0]!))).toMatchObject({ allowed: true });
      const error = await rejection(limiter.consume(await own.keyOn(own.nodes[1]!)));
      expect(isStoreConfigurationError(error)).toBe(true);
      expect(String(error)).toMatch(/node of a Redis Cluster: give redisStore a Cluster client.*MOVED/);
    },
  );
});
