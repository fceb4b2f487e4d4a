import { fixedWindow } from '../../../packages/core/src/index.js';
import { KINDS, OwnCluster } from '../../integration/cluster/own-cluster.js';
import { uniqueName } from '../../support/redis-url.js';
import { fromRedis } from '../callers.js';
import { runOutage } from '../outage.js';
import { record } from '../table.js';

const own = new OwnCluster();
const group = 'cluster and failover';

test('exactly the limit passes under load while a slot moves around the cluster', async () => {
  const [name, policy] = [uniqueName('moving'), fixedWindow({ limit: 2_000, window: '1h' })];
  const limiters = [1, 2, 3].map(() =>
    own.limiter({ name, policy, store: own.store(KINDS[0]), failurePolicy: 'deny' }),
  );
  const key = await own.keyOn(own.nodes[0]!);
  const slot = await own.slotOf(key);
  let [going, admitted, degraded] = [true, 0, 0];
  const callers = [...limiters, ...limiters].map(async (limiter) => {
    while (going) {
      const decision = await limiter.consume(key);
      if (decision.degraded) degraded += 1;
      else if (decision.allowed) admitted += 1;
    }
  });
  const around = async () => {
    for (let stage = 0; stage < 3; stage += 1) {
      await own.move(slot, own.nodes[stage]!, own.nodes[(stage + 1) % 3]!);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  // A loaded machine answers fewer calls in a round.
  const untilMany = async () => {
    do await around();
    while (admitted < 300);
  };
  await Promise.all([...callers, untilMany().finally(() => (going = false))]);
  // A call that rejected after too many redirections did not count.
  const { remaining } = await fromRedis(() => limiters[0]!.peek(key));
  expect(2_000 - remaining).toBe(admitted);
  record({
    ...{ group, fault: 'a slot moves from node to node, under load' },
    seen: degraded === 0 ? 'nothing' : `the failure policy, ${degraded} times of ${admitted + degraded}`,
    counted: 'each call once',
  });
}, 120_000);

test('TRYAGAIN (the keys of one decision are on two nodes) lets the failure policy decide', async () => {
  const [home, away] = own.nodes;
  const hashTag = await own.keyOn(home!);
  const slot = await own.slotOf(hashTag);
  const move = async (which: string) => {
    const keys = (await home!.ask('CLUSTER', 'GETKEYSINSLOT', slot, 100)) as string[];
    for (const key of keys.filter((one) => one.includes(which))) {
      await home!.ask('MIGRATE', '127.0.0.1', away!.port, key, 0, 5_000);
    }
  };
  await runOutage({
    ...{ group, fault: '`TRYAGAIN`: the keys of one decision on two nodes, while a slot moves' },
    reasons: ['TRYAGAIN', 'timeout'],
    mayCount: true, // the client retries for longer than the deadline
    hashTag,
    policies: (limit) => ({
      few: fixedWindow({ limit, window: '1h' }),
      many: fixedWindow({ limit: 10 * limit, window: '1h' }),
    }),
    store: own.store(KINDS[0]),
    begin: async () => {
      await away!.ask('CLUSTER', 'SETSLOT', slot, 'IMPORTING', home!.id);
      await home!.ask('CLUSTER', 'SETSLOT', slot, 'MIGRATING', away!.id);
      await move('|few:');
    },
    end: async () => {
      await move('');
      for (const { ask } of [away!, ...own.nodes]) await ask('CLUSTER', 'SETSLOT', slot, 'NODE', away!.id);
    },
  });
});
