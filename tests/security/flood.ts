import { fixedWindow, memoryStore, RateLimiter } from '../../packages/core/src/index.js';

// Half a million keys of an attacker in one memory store. `cardinality.deep.test.ts` bundles this file and runs it with a small heap.

const NEW_KEYS = 500_000;
const MAX_KEYS = 150_000;
/** More limited keys than one search for a key to evict can skip. */
const DENIED = 5_000;
const RULED = 100;

async function main(): Promise<void> {
  const store = memoryStore({ maxKeys: MAX_KEYS });
  const limiter = new RateLimiter({ name: 'flood', policy: fixedWindow({ limit: 2, window: '1d' }), store });
  const strict = fixedWindow({ limit: 1, window: '1d' });
  for (let i = 0; i < RULED; i += 1) {
    await limiter.block(`blocked-${i}`, '1d');
    await limiter.override(`overridden-${i}`, strict, { expiresIn: '1d' });
  }
  for (let i = 0; i < DENIED; i += 1)
    for (let call = 0; call < 3; call += 1) await limiter.consume(`denied-${i}`);

  let passed = 0;
  let most = 0;
  for (let i = 0; i < NEW_KEYS; i += 1) {
    // Cut from a text of 2 kB, as an id from a header is. Half of the keys are too long to store as text.
    const header = `${i}-${i % 2 === 0 ? 'x'.repeat(200) : ''}`.padEnd(2_048, '.');
    if ((await limiter.consume(header.slice(0, i % 2 === 0 ? 210 : 100))).allowed) passed += 1;
    most = Math.max(most, store.size);
  }

  const readmitted: string[] = [];
  for (let i = 0; i < DENIED; i += 1)
    if ((await limiter.peek(`denied-${i}`)).allowed) readmitted.push(`denied-${i}`);
  for (let i = 0; i < RULED; i += 1) {
    if ((await limiter.peek(`blocked-${i}`)).allowed) readmitted.push(`blocked-${i}`);
    if ((await limiter.peek(`overridden-${i}`)).limit !== 1) readmitted.push(`overridden-${i}`);
  }
  console.log(JSON.stringify({ passed, most, readmitted }));
  await limiter.close();
  await store.close();
}

void main();
