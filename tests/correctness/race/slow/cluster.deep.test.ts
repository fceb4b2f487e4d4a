import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, OwnCluster } from '../../../integration/cluster/own-cluster.js';
import { Fleet } from '../fleet.js';
import { KEY_NUMBERS, printTable, trial } from './trial.js';

// The race on a Redis Cluster: slots move from node to node under it, and masters are killed and replaced by their replicas.

const own = new OwnCluster({ replicas: true });
let fleet: Fleet;

beforeAll(async () => {
  fleet = await Fleet.start(8, { kind: 'cluster', addresses: own.addresses });
}, 120_000);

afterAll(async () => {
  await fleet?.stop();
  printTable();
});

const SHARE = Math.ceil(16_384 / 3);
const slotOf = (key: number) => own.slotOf(String(key));

test('moving slots take their counts with them, so no more calls pass', async () => {
  await trial(fleet, 'cluster, slots on the move', async () => {
    await sleep(500);
    // Move the slot of every key to the next node, then back.
    for (const way of ['there', 'back']) {
      for (const key of KEY_NUMBERS) {
        const slot = await slotOf(key);
        const home = Math.floor(slot / SHARE);
        const [from, to] = way === 'there' ? [home, (home + 1) % 3] : [(home + 1) % 3, home];
        await own.move(slot, own.nodes[from]!, own.nodes[to]!, () => sleep(10));
      }
    }
    await sleep(500);
    return () => [];
  });
}, 180_000);

test('killed masters whose replicas are promoted admit at most one limit more', async () => {
  const slots = new Map<number, number>();
  for (const key of KEY_NUMBERS) slots.set(key, await slotOf(key));
  await trial(fleet, 'cluster, failovers', async () => {
    const lost: { node: number; moment: number }[] = [];
    for (const node of [0, 1]) {
      await sleep(1_500);
      await own.nodes[node]!.kill();
      lost.push({ node, moment: Date.now() * 1000 });
      await eventually(async () =>
        /role:master/.test(String(await own.replicas[node]!.ask('INFO', 'replication'))),
      );
      await sleep(1_500);
      await own.nodes[node]!.restart();
      await own.whole();
    }
    await sleep(1_500);
    return (key) =>
      lost.filter(({ node }) => node === Math.floor(slots.get(key)! / SHARE)).map(({ moment }) => moment);
  });
}, 180_000);
