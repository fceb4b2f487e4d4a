import { fixedWindow } from '../../packages/core/src/index.js';
import { OwnCluster } from '../integration/cluster/own-cluster.js';

const own = new OwnCluster();
const USERS = 1_000;

/** Names by which users may try to choose a slot: Redis hashes the text in the first braces. */
const SPELLINGS: Readonly<Record<string, (user: number) => string>> = {
  plain: (user) => `user-${user}`,
  'one tag': (user) => `{vip}user-${user}`,
  'a tag behind': (user) => `user-${user}{vip}`,
  'out of the braces': (user) => `}{vip}user-${user}`,
  'an empty tag': (user) => `{}user-${user}`,
  'no end': (user) => `{user-${user}`,
  'encoded already': (user) => `%7Bvip%7Duser-${user}`,
  'in a long key': (user) => `{vip}${'x'.repeat(200)}${user}`,
};

test.each(Object.entries(SPELLINGS))(
  '%s: a thousand users are spread over slots and nodes',
  async (_, spell) => {
    const limiter = own.limiter({ policy: fixedWindow({ limit: 1, window: '1h' }) });
    const users = Array.from({ length: USERS }, (_, user) => spell(user));
    for (const allowed of [true, false]) {
      const decisions = await Promise.all(users.map((user) => limiter.consume(user)));
      expect(decisions.filter((decision) => decision.allowed === allowed)).toHaveLength(USERS);
    }
    const keysByNode = await own.keys(limiter.name);
    const keys = keysByNode.flat();
    expect(keys).toHaveLength(USERS);
    const slots = new Set(await Promise.all(keys.map((key) => own.slotOf(key))));
    // A thousand random keys are in about 970 of 16,384 slots.
    expect(slots.size).toBeGreaterThan(900);
    for (const { length } of keysByNode) expect(length).toBeGreaterThan(USERS / 5);
  },
);
