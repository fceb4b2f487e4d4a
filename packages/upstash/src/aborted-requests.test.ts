import { fixedWindow, RateLimiter } from '@sluice/core';
import { upstashStore } from './index.js';

/** As a `fetch` with a time limit of its own does. */
const aborts = async (): Promise<Response> => {
  throw new DOMException('This operation was aborted', 'AbortError');
};

test('a request that the fetch of a program aborts is an outage, which the failure policy decides', async () => {
  const store = upstashStore({ url: 'https://x.upstash.io', token: 't', fetch: aborts });
  const errors: unknown[] = [];
  store.on('degraded', () => {}).on('storeError', ({ error }) => errors.push(error));
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const limiter = new RateLimiter({ name: 'orders', policy, store, failurePolicy: 'allow' });
  try {
    expect(await limiter.consume('ann')).toMatchObject({ allowed: true, degraded: true });
    await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toEqual([
      expect.objectContaining({
        reason: 'connection',
        message: 'upstashStore: This operation was aborted',
        neverSent: false,
      }),
    ]);
  } finally {
    await limiter.close();
    await store.close();
  }
});
