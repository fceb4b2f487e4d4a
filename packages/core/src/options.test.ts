import { RateLimiter } from './limiter/rate-limiter.js';

test.each([
  [
    { points: 5, duration: 60 },
    "RateLimiter has no option 'points': numbers belong to a policy. Pass policy: fixedWindow(",
  ],
  [
    { windowMs: 60_000, max: 5 },
    "RateLimiter has no option 'windowMs': numbers belong to a policy. Pass policy: fixedWindow(",
  ],
  [
    { ttl: 60_000, limit: 5 },
    "RateLimiter has no option 'ttl': numbers belong to a policy. Pass policy: fixedWindow(",
  ],
  [{ keyprefix: 'shop' }, "RateLimiter has no option 'keyprefix'; did you mean 'keyPrefix'?"],
  [{ minTime: 200 }, "RateLimiter has no option 'minTime': pass policy: leakyBucket("],
  [{ maxConcurrent: 2 }, "RateLimiter has no option 'maxConcurrent': pass policy: concurrency("],
  [
    { storeClient: {} },
    "RateLimiter has no option 'storeClient': pass store: redisStore(client), and a name",
  ],
  [
    { reservoir: 5 },
    "RateLimiter has no option 'reservoir': numbers belong to a policy. Pass policy: tokenBucket(",
  ],
])('%j of another library is refused, naming ours', (options, message) => {
  expect(() => new RateLimiter(options as never)).toThrow(message);
});

test('a misspelt option still gets the list of options', () => {
  expect(() => new RateLimiter({ polcy: 1 } as never)).toThrow(
    "RateLimiter has no option 'polcy'; its options are policy, policies, name",
  );
});
