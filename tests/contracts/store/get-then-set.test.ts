import { decide, KeyState } from '@sluice/core/internal';
import { Redis } from 'ioredis';
import {
  fixedWindow,
  memoryStore,
  RateLimiter,
  type Store,
  storageKey,
} from '../../../packages/core/src/index.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

/** What a store must not do: GET, decide here, SET. The contract sends 50 at once, of which 10 may pass; here more do. */
test('50 calls at once expose a store that reads and writes in two trips', async () => {
  const client = new Redis(redisUrl());
  const memory = memoryStore();
  const { clock } = memory;
  const store: Store = {
    name: 'get-then-set',
    remote: false,
    clock,
    decide: async (call) => {
      const [part] = call.parts;
      const kept = await client.get(storageKey(part!));
      const now = clock.now();
      const keyState = new KeyState(part!, kept === null ? undefined : JSON.parse(kept), now);
      const answer = decide(call, [keyState]);
      await client.set(storageKey(part!), JSON.stringify(keyState.entry()), 'PX', 60_000);
      return answer;
    },
    close: () => memory.close(),
  };
  const policy = fixedWindow({ limit: 10, window: '1h' });
  const limiter = new RateLimiter({ name: uniqueName('get-then-set'), policy, store });
  const decisions = await Promise.all(Array.from({ length: 50 }, () => limiter.consume('k')));
  expect(decisions.filter(({ allowed }) => allowed).length).toBeGreaterThan(10);
  await limiter.close();
  await store.close();
  client.disconnect();
});
