import { once } from 'node:events';
import { setPriority } from 'node:os';
import { Redis } from 'ioredis';
import { compilePolicy } from '../../packages/core/src/algorithms/index.js';
import { isStoreUnavailableError } from '../../packages/core/src/errors.js';
import { recommendedRedisOptions } from '../../packages/core/src/stores/redis-settings.js';
import { redisStore } from '../../packages/core/src/stores/redis-store.js';
import { TcpProxy } from '../support/redis/tcp-proxy.js';
import { FIELDS, type Heat, type HeatResult } from './heat.js';

// One of the racing processes: `fleet.ts` bundles this file and starts it.

async function main(redisUrl: string): Promise<void> {
  setPriority(5); // other tests, which may run beside this one, come first
  const proxy = await TcpProxy.start(redisUrl);
  const client = new Redis(proxy.url, {
    ...recommendedRedisOptions,
    // A busy machine is no reason to give a connection up: only the proxy ends them here.
    connectTimeout: 60_000,
    socketTimeout: 60_000,
    retryStrategy: () => 1,
    disconnectTimeout: 0,
  });
  client.on('error', () => undefined);
  const store = redisStore(client);

  async function race({ name, policy, keys, asks, inFlight, resets }: Heat): Promise<HeatResult> {
    const rule = compilePolicy(policy);
    const answers = new Float64Array(asks * FIELDS);
    const before = proxy.lostReplies;
    // At moments of its own, never two in one flight, nor at the start, when nearly all that is lost was admitted.
    const resetAt = Array.from({ length: resets }, (_, i) =>
      Math.floor((asks * (i + (1 + Math.random()) / 2)) / resets),
    );
    let asked = 0;
    let answered = 0;
    const runner = async (): Promise<void> => {
      while (asked < asks) {
        if (asked === resetAt[0]) {
          resetAt.shift();
          proxy.resetNextReply();
        }
        asked += 1;
        // All are hot, and the first hottest: one in seven calls is for it.
        const key = Math.floor(keys * Math.random() ** 2);
        const cost = 1 + Math.floor(Math.random() ** 4 * 3);
        const part = { key: `${name}:{${key}}`, rule, cost, at: 0 };
        try {
          const { allowed, now, parts } = await store.decide({
            operation: 'consume',
            wait: 0,
            parts: [part],
          });
          answers.set([key, now, cost, allowed ? 1 : 0, parts[0]!.reset], answered * FIELDS);
          answered += 1;
        } catch (error) {
          if (!isStoreUnavailableError(error)) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: inFlight }, runner));
    return { asked, resets: proxy.lostReplies - before, answers: answers.slice(0, answered * FIELDS) };
  }

  process.on('message', async (heat: Heat) => process.send!(await race(heat)));
  // The test is over, or gone.
  process.once('disconnect', () => process.exit());
  await once(client, 'ready');
  process.send!('ready');
}

void main(process.argv[2]!);
