import { fixedWindow, RateLimiter, redisStore, subscribe } from '../../../packages/core/src/index.js';

/** The work of a process: calls each key until its limit is used up, with refunds. Prints each threshold. */
export interface Work {
  /** The address of one server, or of the nodes of a cluster. */
  readonly urls: readonly string[];
  readonly limiter: string;
  readonly keys: readonly string[];
  readonly limit: number;
  readonly prefetch?: number;
  /** The threshold at which it kills itself instead of printing it. */
  readonly diesAt?: string;
}

async function main({ urls, limiter: name, keys, limit, prefetch, diesAt }: Work): Promise<void> {
  const store = redisStore(urls.length > 1 ? { cluster: urls } : { url: urls[0]! });
  const limiter = new RateLimiter({
    name,
    policy: fixedWindow({ limit, window: '1 year', timeZone: 'Asia/Kathmandu' }),
    store,
    deadline: '20s',
    failurePolicy: 'deny',
    notify: ['50%', '80%', '100%'],
    ...(prefetch !== undefined && { prefetch: { most: prefetch } }),
  });
  subscribe('sluice:threshold', ({ key, threshold }) => {
    if (threshold === diesAt) process.kill(process.pid, 'SIGKILL');
    process.stdout.write(`${key} ${threshold}\n`);
  });
  await Promise.all(
    keys.map(async (key) => {
      for (let call = 0; ; call += 1) {
        const decision = await limiter.consume(key);
        if (!decision.allowed) return;
        if (call % 3 === 0) await limiter.refund(decision);
      }
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 2_500)); // checks are pending, or wait for a second
  await limiter.close();
  await store.close();
}

void main(JSON.parse(process.argv[2]!) as Work);
