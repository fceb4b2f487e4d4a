import { fixedWindow } from '../../../packages/core/src/index.js';
import { Messages } from '../../support/messages.js';
import { KINDS, OwnCluster } from '../cluster/own-cluster.js';

const own = new OwnCluster();
const users = Array.from({ length: 60 }, (_, i) => `user-${i}`);

test('each node’s script calls are published, with all decisions', async () => {
  const limiter = own.limiter({
    policy: fixedWindow({ limit: 9, window: '1h' }),
    store: own.store(KINDS[0]!),
  });
  await Promise.all(users.map((user) => limiter.consume(user))); // connects
  const messages = new Messages();
  await Promise.all(users.map((user) => limiter.consume(user)));
  messages.stop();
  const calls = messages.on('sluice:store-call');
  const nodes = [...new Set(calls.map(({ node }) => node))].sort();
  expect(nodes).toEqual(own.nodes.map(({ url }) => new URL(url).host).sort());
  expect(calls.reduce((sum, one) => sum + one.calls, 0)).toBe(users.length);
  for (const call of calls) {
    expect(call).toMatchObject({ store: 'redis', address: expect.any(String), error: undefined });
    expect(call.endedAt).toBeGreaterThanOrEqual(call.startedAt);
  }
  const keys = messages.on('sluice:decision').map(({ key }) => key);
  expect([...keys].sort()).toEqual([...users].sort());
});
