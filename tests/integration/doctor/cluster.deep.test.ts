import { CLUSTER_RULES, CREDENTIALS, RULES, setUser } from '../../security/least-privilege/rules.js';
import { eventually } from '../../support/eventually.js';
import { type ClusterNode, type RedisCluster, startRedisCluster } from '../../support/redis/redis-cluster.js';
import { sluice } from '../cli/sluice.js';
import { findingsAt, lineOf, linesOf } from './findings.js';

let cluster: RedisCluster;
const nodes = (): readonly ClusterNode[] => [...cluster.nodes, ...cluster.replicas];
const seed = () => ({ cluster: [cluster.addresses[0]!] });
const nameOf = ({ port }: ClusterNode) => `127.0.0.1:${port}`;

beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: true });
  await Promise.all(
    cluster.nodes.map(({ ask }) =>
      eventually(async () => /slave0:.*state=online/.test(String(await ask('INFO', 'replication')))),
    ),
  );
});
afterAll(() => cluster.stop());

const WRITES =
  /^(?:set|del|eval|evalsha|publish|flush|keys|config\|set|script\|(?:load|flush)|cluster\|(?!info|nodes|slots))/;

test('checks each node of a healthy cluster, and sends only reads', async () => {
  for (const { ask } of nodes()) await ask('CONFIG', 'RESETSTAT');
  const findings = await findingsAt(seed());
  expect(findings.filter(({ level }) => level === 'error' || level === 'warning').map(lineOf)).toEqual([]);
  expect(findings.filter(({ id }) => id === 'server')).toHaveLength(6);
  expect(findings.filter(({ id }) => id === 'scripts' || id === 'script-not-cached')).toHaveLength(3);
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      'ok connection: 6 servers answered',
      'ok cluster: all slots are served, by 3 nodes',
    ]),
  );
  for (const { ask } of nodes()) {
    const stats = String(await ask('INFO', 'commandstats'));
    const ran = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name]) => name!);
    expect(ran).toEqual(expect.arrayContaining(['time', 'cluster|nodes']));
    expect(ran.filter((name) => WRITES.test(name))).toEqual([]);
  }
});

test('sluice --cluster doctor checks all nodes', async () => {
  const { code, values } = await sluice([
    '--cluster',
    nameOf(cluster.nodes[0]!),
    '--json',
    'doctor',
    '--limiter-deadline',
    '1m',
  ]);
  expect(code).toBe(0);
  expect(values()).toContainEqual(expect.objectContaining({ what: '6 servers answered' }));
});

test('reports the address of a single node of a cluster', async () => {
  expect(await linesOf('cluster-by-address', `redis://127.0.0.1:${cluster.nodes[0]!.port}`)).toEqual([
    `error cluster-by-address: ${nameOf(cluster.nodes[0]!)} is a node of a cluster`,
  ]);
});

test('finds no error with the rights of operations.md', async () => {
  // A replica is listed once it has received something.
  for (const { ask } of cluster.nodes) await ask('FLUSHALL');
  await eventually(async () => {
    const ranges = (await cluster.nodes[0]!.ask('CLUSTER', 'SLOTS')) as unknown[][];
    return ranges.every(({ length }) => length === 4);
  });
  for (const { ask } of nodes()) await setUser(ask as never, [...RULES, ...CLUSTER_RULES]);
  const findings = await findingsAt({ ...seed(), ...CREDENTIALS });
  expect(findings.filter(({ level }) => level === 'error' || level === 'warning').map(lineOf)).toEqual([]);
  // It finds the nodes by CLUSTER SLOTS.
  expect(findings.filter(({ id }) => id === 'server')).toHaveLength(6);
  expect(findings.filter(({ id }) => id === 'not-permitted').map(({ what }) => what)).toContain(
    "The user 'sluice' may not run CLUSTER NODES, so these were not looked at: the nodes of the cluster",
  );
  expect((await linesOf('rights', { ...seed() }, { user: 'sluice' })).length).toBe(6);
});

test('reports a moving slot', async () => {
  const [from, to] = cluster.nodes as [ClusterNode, ClusterNode];
  await from.ask('CLUSTER', 'SETSLOT', 5, 'MIGRATING', to.id);
  expect(await linesOf('slots-moving', seed())).toEqual([
    `note slots-moving: Slots are marked as moving: [5->-${to.id}]`,
  ]);
  await from.ask('CLUSTER', 'SETSLOT', 5, 'STABLE');
});

test('reports nodes that disagree about slots', async () => {
  const [owner, other, forgetful] = cluster.nodes as [ClusterNode, ClusterNode, ClusterNode];
  const nodeTimeout = (ms: number) =>
    Promise.all(nodes().map(({ ask }) => ask('CONFIG', 'SET', 'cluster-node-timeout', ms)));
  await nodeTimeout(60_000); // its replica must not take its place
  await owner.freeze(); // otherwise it announces its slots again
  await forgetful.ask('CLUSTER', 'DELSLOTS', 7);
  const address = { host: '127.0.0.1', port: other.port };
  // A busy node may answer too late.
  const lines = await eventually(async () => {
    const found = await linesOf('nodes-disagree', { cluster: [address] }, { timeout: 300 });
    return found.length > 0 && found;
  });
  await owner.thaw();
  await nodeTimeout(2_000);
  expect(lines).toEqual(['warning nodes-disagree: Nodes disagree on which node serves which slots']);
  await cluster.whole();
});

test('reports a lost shard and a lost replica', async () => {
  const { replicas } = cluster;
  await replicas[1]!.kill();
  const lost = cluster.nodes[1]!;
  await eventually(async () =>
    (await linesOf('node-failed', seed())).includes(
      `error node-failed: ${nameOf(replicas[1]!)} is marked as failed`,
    ),
  );
  await lost.kill();
  await eventually(async () => (await linesOf('slots-uncovered', seed())).length === 1);
  const findings = await findingsAt(seed());
  expect(findings.map(lineOf)).toEqual(
    expect.arrayContaining([
      expect.stringMatching(`^error unreachable: ${nameOf(lost)} does not answer: `),
      expect.stringMatching(`^warning replica-unreachable: ${nameOf(replicas[1]!)} does not answer: `),
      `error node-failed: ${nameOf(lost)} is marked as failed`,
      expect.stringMatching(/^error slots-uncovered: No node serves the slots .*\d+-\d+/),
    ]),
  );
});
