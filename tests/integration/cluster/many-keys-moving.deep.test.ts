import {
  type Decision,
  fixedWindow,
  type Policy,
  type RedisStore,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { slotOf } from '../../../packages/core/src/stores/redis/cluster.js';
import { fractionsFrom, TEST_SEED } from '../../support/random.js';
import { type ClusterNode, NO_OUTAGE } from '../../support/redis/redis-cluster.js';
import { cases } from '../../support/runs.js';
import { KINDS, OwnCluster } from './own-cluster.js';

const own = new OwnCluster({ args: NO_OUTAGE });
const KEYS = 300;
/** Slots that move to another node and back. */
const MOVED = cases(6, 15);
const LIMIT = 10_000;
const users = Array.from({ length: KEYS }, (_, i) => `user-${i}`);

/** Sums a field of INFO over all nodes. */
async function total(section: string, pattern: RegExp): Promise<number> {
  const infos = await Promise.all(own.nodes.map(({ ask }) => ask('INFO', section)));
  const found = infos.flatMap((info) => [...String(info).matchAll(pattern)]);
  return found.reduce((sum, [, number]) => sum + Number(number), 0);
}
const scriptCalls = () => total('commandstats', /cmdstat_eval(?:sha)?:calls=(\d+)/g);
/** Replies to a script call whose key is on another node, and to the client's own call for it. */
const elsewhere = () => total('errorstats', /errorstat_ERR:count=(\d+)/g);
const redirections = () => total('errorstats', /errorstat_(?:ASK|MOVED):count=(\d+)/g);

/** The node of each slot. */
async function owners(): Promise<Map<number, ClusterNode>> {
  const slots = (await own.nodes[0]!.ask('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const found = new Map<number, ClusterNode>();
  for (const [from, to, [, port]] of slots) {
    const node = own.nodes.find((one) => one.port === port)!;
    for (let slot = from; slot <= to; slot += 1) found.set(slot, node);
  }
  return found;
}

/** Moves slots, one after the other, to the next node and back. */
async function move(slots: readonly number[]): Promise<void> {
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, 2));
  const homes = await owners();
  for (const slot of slots) {
    const home = homes.get(slot)!;
    const away = own.nodes[(own.nodes.indexOf(home) + 1) % own.nodes.length]!;
    await own.move(slot, home, away, pause);
    await own.move(slot, away, home, pause);
  }
}

const window: Policy = fixedWindow({ limit: LIMIT, window: '1h' });
// No permit comes back during the test.
const bucket: Policy = tokenBucket({ capacity: LIMIT, refill: 1, every: '1h' });
const stores: readonly [string, Policy, () => RedisStore][] = [
  ...KINDS.map((kind): [string, Policy, () => RedisStore] => [
    `fixedWindow, ${kind.name}`,
    window,
    () => own.store(kind),
  ]),
  ['fixedWindow, node-redis', window, () => own.nodeRedisStore()],
  ['tokenBucket, ioredis 6', bucket, () => own.store(KINDS[0])],
  ['tokenBucket, node-redis', bucket, () => own.nodeRedisStore()],
];

const fraction = fractionsFrom(TEST_SEED);

test.each(stores)(
  'each call counts once while slots move: %s',
  async (_, policy, open) => {
    const limiter = own.limiter({ policy, store: open() });
    await Promise.all(users.map((user) => limiter.consume(user, { cost: 0 })));
    await Promise.all(own.nodes.map(({ ask }) => ask('CONFIG', 'RESETSTAT')));

    const allowed = new Map<string, number>();
    const wrong: Decision[] = [];
    let calls = 0;
    let moving = true;
    const loop = async () => {
      while (moving) {
        const some = users.filter(() => fraction() < 0.3);
        const decisions = await Promise.all(some.map((user) => limiter.consume(user)));
        calls += some.length;
        decisions.forEach((decision, i) => {
          // An `expect` for each of many thousand decisions takes longer than the decisions.
          if (decision.allowed && decision.source === 'redis')
            allowed.set(some[i]!, (allowed.get(some[i]!) ?? 0) + 1);
          else wrong.push(decision);
        });
      }
    };
    const slots = [...new Set(users.map((user) => slotOf(`{${user}}`)))].slice(0, MOVED);
    const moved = move(slots).finally(() => {
      moving = false;
    });
    await Promise.all([loop(), loop(), loop(), loop(), moved]);

    expect(wrong).toEqual([]);
    const scripts = await scriptCalls();
    expect(await elsewhere()).toBeGreaterThan(0);
    expect(await redirections()).toBeGreaterThan(0);
    const left = await Promise.all(users.map((user) => limiter.peek(user)));
    expect(left.map(({ remaining }) => remaining)).toEqual(
      users.map((user) => LIMIT - (allowed.get(user) ?? 0)),
    );
    expect(scripts).toBeLessThan(calls / 5);
  },
  300_000,
);
