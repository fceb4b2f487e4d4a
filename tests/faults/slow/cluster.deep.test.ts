import { fixedWindow, recommendedClusterOptions } from '../../../packages/core/src/index.js';
import { eventually, KINDS, OwnCluster } from '../../integration/cluster/own-cluster.js';
import type { ClusterNode } from '../../support/redis/redis-cluster.js';
import { fromRedis } from '../callers.js';
import { runOutage } from '../outage.js';

const group = 'cluster and failover';
const says = (node: ClusterNode, command: string[], pattern: RegExp) =>
  eventually(async () => pattern.test(String(await node.ask(command[0]!, ...command.slice(1)))));

describe('a cluster with replicas', () => {
  const own = new OwnCluster({ replicas: true });

  test('a killed master delays only its own keys, until the failover', async () => {
    const [lost, other] = own.nodes;
    const [replica] = own.replicas;
    const store = own.store(KINDS[0], recommendedClusterOptions);
    const unharmed = own.limiter({ policy: fixedWindow({ limit: 1_000, window: '1h' }), store });
    const elsewhere = await own.keyOn(other!);
    await fromRedis(() => unharmed.consume(elsewhere));
    const hashTag = await own.keyOn(lost!);
    await runOutage({
      ...{ group, fault: 'master of a cluster killed, its replica takes over: its keys' },
      reasons: ['connection', 'timeout', 'CLUSTERDOWN'],
      hashTag,
      store,
      begin: async () => {
        await lost!.ask('SET', hashTag, 'mark'); // WAIT waits for earlier writes of its connection
        await eventually(async () => Number(await lost!.ask('WAIT', 1, 100)) === 1);
        await lost!.kill();
      },
      meanwhile: async () => {
        expect(await unharmed.consume(elsewhere)).toMatchObject({ source: 'redis', degraded: false });
      },
      end: () => says(replica!, ['INFO', 'replication'], /role:master/),
    });
    await lost!.restart();
    await own.whole();
  });
});

describe('a cluster that serves all slots or none', () => {
  const own = new OwnCluster({ args: ['--cluster-require-full-coverage', 'yes'] });

  test('CLUSTERDOWN (one of three masters is down) lets the failure policy decide', async () => {
    const [lost, other] = own.nodes;
    await runOutage({
      ...{ group, fault: '`CLUSTERDOWN`: one of three masters gone, full coverage required' },
      reasons: ['CLUSTERDOWN', 'connection', 'timeout'],
      hashTag: await own.keyOn(other!),
      store: own.store(KINDS[0], recommendedClusterOptions),
      begin: async () => {
        await lost!.kill();
        await says(other!, ['CLUSTER', 'INFO'], /cluster_state:fail/);
      },
      end: async () => {
        await lost!.restart();
        await own.whole();
      },
    });
  });
});
