import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from './free-port.ts';
import { localRedisBinary } from './redis-binary.ts';
import { launch } from './redis-process.ts';
import { startReplica } from './redis-replica.ts';
import { type RedisServer, startRedis } from './redis-server.ts';
import { testClient } from './test-client.ts';

export interface RedisSentinels {
  /** Name of the master at the Sentinels. */
  readonly name: string;
  /** Addresses of the three Sentinels, for `new Redis({ sentinels, name })`. */
  readonly addresses: readonly { readonly host: string; readonly port: number }[];
  /** The master at the start. After a failover and a restart, the Sentinels make it a replica ten seconds later. */
  readonly master: RedisServer;
  /** The replica at the start. */
  readonly replica: RedisServer;
  /** Port of the present master, by a Sentinel. */
  masterPort(): Promise<number>;
  /** Waits until every Sentinel names the replica as the master, in a test that has `SENTINEL_TEST_MS`. */
  replaced(): Promise<void>;
  stop(): Promise<void>;
}

interface Passwords {
  /** Password of the master and the replica. */
  readonly servers?: string;
  /** Password of the Sentinels. */
  readonly sentinels?: string;
}

interface Sentinel {
  readonly id: string;
  readonly port: number;
}

const NAME = 'sluice-test';
/**
 * A replica that lost its master ten times this before the Sentinels found that out is never promoted. A Sentinel that a busy machine did not
 * run for two seconds does nothing for the next 30 (its TILT mode), so ten times is above that.
 */
const DOWN_AFTER_MS = 4_000;
const FAILOVER_TIMEOUT_MS = 2_000;
const MOST_OF_A_FAILOVER_MS = 90_000;

/** Time of a test that waits for a failover. */
export const SENTINEL_TEST_MS = 150_000;

/**
 * Starts a master, its replica and three Sentinels on free ports of 127.0.0.1. They know each other from the start, because discovery
 * takes seconds. The Sentinels replace a killed master in five to seven seconds.
 */
export async function startRedisSentinels(passwords: Passwords = {}): Promise<RedisSentinels> {
  const { servers, sentinels: ofSentinels } = passwords;
  const login = servers === undefined ? {} : { password: servers };
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const master = await startRedis(
      servers === undefined ? {} : { args: ['--requirepass', servers, '--masterauth', servers] },
    );
    stops.push(() => master.stop());
    const replica = await startReplica(master.port, login);
    stops.push(() => replica.stop());
    const sentinels: Sentinel[] = [];
    for (let i = 0; i < 3; i += 1) {
      sentinels.push({ id: randomBytes(20).toString('hex'), port: await freePort() });
    }
    for (const sentinel of sentinels) {
      stops.push(
        await startSentinel(sentinel.port, configuration(sentinel, sentinels, master, replica, passwords)),
      );
    }
    const addresses = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
    return {
      name: NAME,
      addresses,
      master,
      replica,
      masterPort: () => masterPort(addresses[0]!.port, ofSentinels),
      async replaced() {
        for (const { port } of addresses) {
          const isReplaced = async () => (await masterPort(port, ofSentinels)) === replica.port;
          await eventually(isReplaced, 25, MOST_OF_A_FAILOVER_MS);
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function configuration(
  { id, port }: Sentinel,
  sentinels: readonly Sentinel[],
  master: RedisServer,
  replica: RedisServer,
  passwords: Passwords,
): string {
  const others = sentinels.filter((other) => other.id !== id);
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `sentinel myid ${id}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${master.port} 2`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} ${FAILOVER_TIMEOUT_MS}`,
    `sentinel known-replica ${NAME} 127.0.0.1 ${replica.port}`,
    ...(passwords.servers === undefined ? [] : [`sentinel auth-pass ${NAME} "${passwords.servers}"`]),
    ...(passwords.sentinels === undefined
      ? []
      : [`requirepass ${passwords.sentinels}`, `sentinel sentinel-pass ${passwords.sentinels}`]),
    ...others.map((other) => `sentinel known-sentinel ${NAME} 127.0.0.1 ${other.port} ${other.id}`),
    '',
  ].join('\n');
}

/** @returns a function that ends it */
export async function startSentinel(port: number, text: string): Promise<() => Promise<void>> {
  const binary = await localRedisBinary('A Sentinel of the tests');
  const folder = await mkdtemp(join(tmpdir(), 'sluice-sentinel-'));
  const file = join(folder, 'sentinel.conf'); // a Sentinel writes its state to it
  await writeFile(file, `dir ${folder}\n${text}`);
  try {
    const started = await launch(binary, [file, '--sentinel'], port, folder);
    return async () => {
      await started.signal('SIGKILL');
      await started.end();
      await rm(folder, { recursive: true, force: true });
    };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function masterPort(sentinel: number, password?: string): Promise<number> {
  const client = testClient(`redis://127.0.0.1:${sentinel}`, password === undefined ? {} : { password });
  try {
    const [, port] = (await client.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)) as [string, string];
    return Number(port);
  } finally {
    client.disconnect();
  }
}
