import { fixedWindow, type RateLimiter } from '../../../packages/core/src/index.js';
import { KINDS, type Kind, OwnCluster, rejection } from '../../integration/cluster/own-cluster.js';
import { storeOnDefaults } from '../../support/expecting-warning.js';
import { CLUSTER_RULES, CREDENTIALS, RULES, refusals, setUser } from './rules.js';
import { walk } from './walk.js';

// A cluster user with the rights of docs/operations.md and no others.

const own = new OwnCluster();
const setUsers = async (without?: string) => {
  const rules = [...RULES, ...CLUSTER_RULES].filter((rule) => rule !== without);
  for (const { ask } of own.nodes) {
    await setUser(ask, rules);
    await ask('ACL', 'LOG', 'RESET');
  }
};
const storeAsUser = (kind: Kind) =>
  own.open(storeOnDefaults(own.client(kind, { redisOptions: CREDENTIALS })));
const limiterAsUser = (kind: Kind): RateLimiter =>
  own.limiter({ policy: fixedWindow({ limit: 3, window: '1h' }), store: storeAsUser(kind) });

// The third kind has a keyPrefix of its own, to which this user has no right.
describe.each(KINDS.slice(0, 2))('$name', (kind) => {
  test('every operation works with the rights of docs/operations.md', async () => {
    await setUsers();
    await walk(storeAsUser(kind));
    expect((await Promise.all(own.nodes.map(({ ask }) => refusals(ask)))).flat()).toEqual([]);
  });

  test('only calls of a key without a right fail, also in a batch with others', async () => {
    await setUsers();
    const policy = fixedWindow({ limit: 3, window: '1h' });
    const store = storeAsUser(kind);
    const mine = own.limiter({ policy, store });
    const other = own.limiter({ policy, store, keyPrefix: 'other' });
    const users = Array.from({ length: 12 }, (_, i) => `user-${i}`);
    await Promise.all(users.map((user) => mine.consume(user))); // connects
    const both = await Promise.allSettled(users.flatMap((user) => [mine.consume(user), other.consume(user)]));
    expect(both).toEqual(
      users.flatMap(() => [
        expect.objectContaining({ value: expect.objectContaining({ allowed: true, remaining: 1 }) }),
        expect.objectContaining({ reason: expect.objectContaining({ reason: 'NOPERM' }) }),
      ]),
    );
  });

  test.each(['+cluster|slots', '+cluster|info'])('without %s the store cannot connect', async (command) => {
    await setUsers(command);
    expect(await rejection(limiterAsUser(kind).block('k', '1h'))).toMatchObject({
      code: expect.stringMatching(/^SLUICE_STORE_/),
    });
  });

  test('a call sends ASKING while a slot moves', async () => {
    await setUsers();
    const [from, to] = [own.nodes[0]!, own.nodes[1]!];
    const limiter = limiterAsUser(kind);
    const key = await own.keyOn(from);
    const slot = await own.slotOf(key);
    await to.ask('CONFIG', 'RESETSTAT');
    await to.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', from.id);
    await from.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', to.id);
    // The key is not there yet: the old node redirects calls for it to the new one.
    expect(await limiter.consume(key)).toMatchObject({ allowed: true, source: 'redis' });
    expect(await to.ask('INFO', 'commandstats')).toMatch(/cmdstat_asking:calls=[1-9]/);
    await limiter.reset(key);
    for (const { ask } of [to, from]) await ask('CLUSTER', 'SETSLOT', slot, 'STABLE');
  });
});
