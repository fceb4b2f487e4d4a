import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { fractionsFrom, TEST_SEED } from '../../support/random.ts';
import { freePort } from '../../support/redis/free-port.ts';
import type { RedisServer } from '../../support/redis/redis-server.ts';
import type { TcpProxy } from '../../support/redis/tcp-proxy.ts';

const fraction = fractionsFrom(TEST_SEED);

/** The server, proxy and connections that faults act on. */
export interface FaultTargets {
  readonly redis: RedisServer;
  readonly proxy: TcpProxy;
  /** Connected directly to the server. */
  readonly admin: Redis;
}

export type Fault = (targets: FaultTargets, ms: number) => Promise<unknown>;

/** Each causes a fault for about `ms` and ends it. */
export const faults: Readonly<Record<string, Fault>> = {
  'replies lost': async ({ proxy }, ms) => {
    proxy.resetEvery(1 + Math.floor(fraction() * 50), Math.floor(fraction() * 6));
    await sleep(ms);
    proxy.resetEvery(0);
  },
  'connections cut': async ({ proxy }) => proxy.disconnectAll(),
  'answers late': async ({ proxy }, ms) => {
    proxy.delay(0, 300);
    await sleep(ms);
    proxy.pass();
  },
  blackhole: async ({ proxy }, ms) => {
    proxy.blackhole();
    await sleep(ms);
    proxy.pass();
  },
  'killed, back with nothing': async ({ redis }, ms) => {
    await redis.kill();
    await sleep(ms);
    await redis.restart();
  },
  frozen: async ({ redis }, ms) => {
    await redis.freeze();
    await sleep(ms);
    await redis.thaw();
  },
  'SCRIPT FLUSH': ({ admin }) => admin.script('FLUSH'),
  FLUSHALL: ({ admin }) => admin.flushall(),
  'CLIENT KILL': async ({ admin }) => {
    for (const type of ['normal', 'pubsub'])
      await admin.call('CLIENT', 'KILL', 'TYPE', type, 'SKIPME', 'yes');
  },
  OOM: async ({ admin }, ms) => {
    await admin.config('SET', 'maxmemory', '1');
    await sleep(ms);
    await admin.config('SET', 'maxmemory', '0');
  },
  BUSY: async ({ admin, redis }, ms) => {
    await admin.config('SET', 'busy-reply-threshold', '20');
    const busy = admin.duplicate();
    busy.on('error', () => undefined);
    const spinning = busy.eval('while true do end', 0).catch(() => undefined); // rejects when it is killed
    await sleep(ms);
    await admin.call('SCRIPT', 'KILL').catch(() => redis.restart()); // the script had not begun, or cannot be killed
    await spinning;
    busy.disconnect();
  },
  READONLY: async ({ admin }, ms) => {
    await admin.replicaof('127.0.0.1', await freePort());
    await sleep(ms);
    await admin.replicaof('NO', 'ONE');
  },
};

/** Each fault once, without pauses. */
export async function eachFault(targets: FaultTargets, ms: number): Promise<void> {
  for (const fault of Object.values(faults)) await fault(targets, ms);
}

/**
 * Random faults, one after the other, with pauses, until the time is over.
 * @param longest longest duration of a fault, ms
 * @returns the number of each fault
 */
export async function randomFaults(
  targets: FaultTargets,
  ms: number,
  longest: number,
): Promise<Record<string, number>> {
  const made: Record<string, number> = {};
  const end = Date.now() + ms;
  for (let names: string[] = []; Date.now() < end; ) {
    if (names.length === 0) names = Object.keys(faults).sort(() => fraction() - 0.5);
    const name = names.pop()!;
    await faults[name]!(targets, longest * fraction());
    made[name] = (made[name] ?? 0) + 1;
    await sleep(longest * fraction());
  }
  return made;
}
