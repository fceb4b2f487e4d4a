import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fixedWindow, memoryStore, RateLimiter, tokenBucket } from '@sluice/core';
import { RateLimiterMemory } from 'rate-limiter-flexible';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** Bytes in use when all that can be collected is. */
function used() {
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** By how many bytes this process has grown when the work is done; what that returned is kept until then. */
export async function growth(work) {
  const before = used();
  const kept = await work();
  const grown = used() - before;
  return { grown, kept };
}

/**
 * Bytes a key in memory stores, and, apart, those of the key's own string in them.
 * @returns [{ name, total, own }]
 */
export async function memorySizes(count) {
  const keys = Array.from({ length: count }, (_, i) => `user:${1_000_000 + i}`);
  const sizes = [];
  for (const [tag, policy] of [
    ['fw', fixedWindow({ limit: 10, window: '1h' })],
    ['tb', tokenBucket({ capacity: 10, refill: 1, every: '10m' })],
  ]) {
    // Equal strings, made as encodeKey makes them, in an array whose slots are taken off again.
    const own = await growth(() => keys.map((key) => flat(`sluice:v2:${tag}:bench:{${key}}`)));
    const ownBytes = own.grown / count - 8;
    own.kept.length = 0;
    const store = memoryStore({ maxKeys: 2 * count });
    const limiter = new RateLimiter({ name: 'bench', policy, store });
    const { grown } = await growth(async () => {
      for (const key of keys) await limiter.consume(key);
    });
    if (store.size !== count) throw new Error(`the store remembers ${store.size} keys, not ${count}`);
    sizes.push({ name: `sluice ${policy.algorithm}`, total: grown / count, own: ownBytes });
    await store.close();
  }
  const flexible = new RateLimiterMemory({ points: 10, duration: 3600, keyPrefix: 'sluice' });
  const { grown } = await growth(async () => {
    for (const key of keys) await flexible.consume(key);
  });
  const own = await growth(() => keys.map((key) => flat(`sluice:${key}`)));
  sizes.push({ name: 'rate-limiter-flexible', total: grown / count, own: own.grown / count - 8 });
  for (const key of keys) await flexible.delete(key);
  return sizes;
}

/** A joined string is a tree of its parts; this copy is one piece, as in a store. */
const flat = (text) => Buffer.from(text, 'latin1').toString('latin1');
