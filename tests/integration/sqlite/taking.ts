import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';

export const KEYS = ['ann', 'bob'];
export const LIMIT = 4_000;

/** Takes permits of each key until it is denied, several calls at a time. */
export async function takeAll(file: string) {
  const store = sqliteStore(file);
  const policy = fixedWindow({ limit: LIMIT, window: '24h' });
  const limiter = new RateLimiter({ name: 'drivers', policy, store, deadline: '30s', denyCache: false });
  const admitted = Object.fromEntries(KEYS.map((key) => [key, 0]));
  const take = async (key: string): Promise<void> => {
    for (;;) {
      const { allowed, degraded } = await limiter.consume(key);
      if (degraded) throw new Error('the file was out');
      if (!allowed) return;
      admitted[key]! += 1;
    }
  };
  await Promise.all(KEYS.flatMap((key) => Array.from({ length: 4 }, () => take(key))));
  const { driver } = store;
  await limiter.close();
  await store.close();
  return { driver, admitted };
}
