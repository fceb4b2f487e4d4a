import { EVERYONE } from '../../../packages/core/src/call/call.js';
import { CombinedLimiter, concurrency, gcra, type Store } from '../../../packages/core/src/index.js';
import type { ClusterNode } from '../../support/redis/redis-cluster.js';
import { uniqueName } from '../../support/redis-url.js';
import { eventually, KINDS, OwnCluster, rejection } from './own-cluster.js';

const own = new OwnCluster();
/** Much longer than the test: a call that gets its permit within a third of it was woken by a message. */
const policy = concurrency({ limit: 1, lease: '1h' });

/** The node on which a process subscribes to releases of this limiter. */
const listeningNode = (name: string, among = own.nodes): Promise<ClusterNode> =>
  eventually(async () => {
    for (const node of among) {
      const channels = (await node.ask('PUBSUB', 'CHANNELS', `*${name}*`)) as string[];
      if (channels.length > 0) return node;
    }
    return undefined;
  });

describe.each(KINDS)('$name', (kind) => {
  test('a release by one process wakes a waiting call of another, on every node', async () => {
    const holder = own.limiter({ policy, store: own.store(kind) });
    const waiter = own.limiter({ policy, name: holder.name, store: own.store(kind) });
    for (const node of own.nodes) {
      const key = await own.keyOn(node);
      const held = await holder.acquire(key);
      const waiting = waiter.acquire(key);
      await listeningNode(holder.name);
      await holder.release(held);
      await waiter.release(await waiting);
    }
  });

  test('waiting calls of three processes get permits in the order of their calls', async () => {
    const name = uniqueName('cluster');
    const limiters = [1, 2, 3].map(() => own.limiter({ policy, name, store: own.store(kind) }));
    let holder = limiters[0]!;
    let held = await holder.acquire('k');
    const served: number[] = [];
    const waits = [];
    for (let place = 0; place < 9; place += 1) {
      const limiter = limiters[place % 3]!;
      const waiting = limiter.acquire('k').then((decision) => {
        served.push(place);
        return decision;
      });
      waits.push({ limiter, waiting });
      await limiter.peek('k'); // on the same connection, so it resolves after the waiting call is in the queue
    }
    for (const { limiter, waiting } of waits) {
      await holder.release(held);
      held = await waiting;
      holder = limiter;
    }
    expect(served).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    await holder.release(held);
  });

  test('a combined limiter waits for its members', async () => {
    const [store, other] = [own.store(kind), own.store(kind)];
    const names = { jobs: uniqueName('cluster'), rate: uniqueName('cluster') };
    const combinedOn = (store: Store) => {
      const place = { store, hashTag: 'combined' };
      const jobs = own.limiter({ policy, name: names.jobs, ...place });
      const rate = own.limiter({ policy: gcra({ limit: 9, period: '1h' }), name: names.rate, ...place });
      return own.open(new CombinedLimiter({ jobs, rate }));
    };
    const [one, two] = [combinedOn(store), combinedOn(other)];
    const keys = { jobs: 'export', rate: 'ada' };
    const held = await one.acquire(keys);
    const waiting = two.acquire(keys);
    await listeningNode(names.jobs);
    await one.release(held);
    const decision = await waiting;
    expect(decision.policies.map(({ remaining }) => remaining)).toEqual([0, 7]);
    await two.release(decision);
  });

  test('a lost subscriber connection is replaced', async () => {
    const holder = own.limiter({ policy, store: own.store(kind) });
    const waiter = own.limiter({ policy, name: holder.name, store: own.store(kind) });
    for (const key of ['a', 'b', 'c']) {
      const held = await holder.acquire(key);
      const waiting = waiter.acquire(key);
      for (let cut = 0; cut < 3; cut += 1) {
        const node = await listeningNode(holder.name);
        await node.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
      }
      await listeningNode(holder.name);
      await holder.release(held);
      await waiter.release(await waiting);
    }
  });

  test('calls look when the subscriber connection is lost, and when it is replaced', async () => {
    const name = uniqueName('cluster');
    const heard: number[] = [];
    const stop = await own.store(kind).listen!(name, (id) => heard.push(id));
    const node = await listeningNode(name);
    await node.ask('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(async () => heard.length >= 2);
    await listeningNode(name);
    expect(heard).toEqual([EVERYONE, EVERYONE]);
    stop();
  });

  test('a lost node with the subscriber connection is replaced by another', async () => {
    const holder = own.limiter({ policy, store: own.store(kind) });
    const waiter = own.limiter({ policy, name: holder.name, store: own.store(kind) });
    const first = await holder.acquire('first');
    const stop = new AbortController();
    const called = rejection(waiter.acquire('first', { signal: stop.signal }));
    const lost = await listeningNode(holder.name);
    const others = own.nodes.filter((node) => node !== lost);
    const held = await Promise.all(
      others.map(async (node) => ({
        key: await own.keyOn(node),
        decision: await holder.acquire(await own.keyOn(node)),
      })),
    );
    const waiting = held.map(({ key }) => waiter.acquire(key));
    await eventually(
      async () => ((await lost.ask('PUBSUB', 'CHANNELS', `*${holder.name}*`)) as string[]).length === 3,
    );

    // The key of the first call is on the lost node, which forgets its permit.
    stop.abort();
    expect(await called).toBe(stop.signal.reason);
    await lost.kill();
    await eventually(async () => {
      const node = await listeningNode(holder.name, others);
      return ((await node.ask('PUBSUB', 'CHANNELS', `*${holder.name}*`)) as string[]).length === 2;
    });
    for (const { decision } of held) await holder.release(decision);
    for (const decision of await Promise.all(waiting)) await waiter.release(decision);

    await lost.restart();
    await own.whole();
    expect(first.allowed).toBe(true);
  });
});
