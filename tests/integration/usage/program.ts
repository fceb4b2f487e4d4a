import { readFileSync } from 'node:fs';
import {
  CombinedLimiter,
  fixedWindow,
  type LimiterKey,
  RateLimiter,
  redisStore,
} from '../../../packages/core/src/index.js';

/** The work of a process: calls each key at a limiter of one permit, then waits until its counts are published. */
export interface Work {
  /** The address of one server, or of the nodes of a cluster. */
  readonly urls: readonly string[];
  readonly limiter: string;
  readonly keys: 'hash' | 'plain';
  readonly calls: readonly (readonly [key: LimiterKey, times: number])[];
}

async function main({ urls, limiter: name, keys, calls }: Work): Promise<void> {
  const usage = { keys, keyUse: true };
  const store = redisStore(urls.length > 1 ? { cluster: urls, usage } : { url: urls[0]!, usage });
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const common = { policy, store, deadline: '20s', failurePolicy: 'deny', hashTag: name } as const;
  const limiter = new RateLimiter({ name, ...common });
  const all = new RateLimiter({ name: `${name}-all`, ...common });
  const both = new CombinedLimiter({ user: limiter, all }, { name: `${name}-both` });
  for (const [key, times] of calls) {
    await Promise.all(Array.from({ length: times }, () => limiter.consume(key)));
  }
  await both.consume({ user: calls[0]![0], all: 'everybody' });
  console.log('called');
  await new Promise((resolve) => setTimeout(resolve, 11_000)); // the timers of limiters and stores keep no process alive
  await Promise.all([both.close(), limiter.close(), all.close()]);
  await store.close();
}

void main(JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as Work);
