import { fixedWindow, memoryStore, RateLimiter, redisStore, tokenBucket } from './index.js';
import { checkOneOf, count } from './options.js';

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
])('the option %j of another library is refused with the equivalent one', (options, message) => {
  expect(() => new RateLimiter(options as never)).toThrow(message);
});

test('a misspelt option is refused with the nearest name, any other with the list of options', () => {
  expect(() => new RateLimiter({ polcy: 1 } as never)).toThrow(
    "RateLimiter has no option 'polcy'; did you mean 'policy'?",
  );
  expect(() => tokenBucket({ capacity: 10, refillRate: 1, every: '1s' } as never)).toThrow(
    "tokenBucket has no option 'refillRate'; did you mean 'refill'?",
  );
  expect(() => new RateLimiter({ elephant: 1 } as never)).toThrow(
    "RateLimiter has no option 'elephant'; its options are policy, policies, name",
  );
});

test('a word that is not one of the accepted ones is refused with these, and with the nearest one', () => {
  const align = (given: unknown) => () => checkOneOf('align', given, ['first-hit', 'clock']);
  const style = (given: unknown) => () => checkOneOf('style', given, ['full', 'short', 'none'], ' or false');
  expect([align('clock')(), style('none')()]).toEqual(['clock', 'none']);
  expect(align('clok')).toThrow(
    new RangeError("align must be 'first-hit' or 'clock', not \"clok\"; did you mean 'clock'?"),
  );
  expect(style('NONE')).toThrow(
    new RangeError('style must be one of full, short, none or false, not "NONE"; did you mean \'none\'?'),
  );
  expect(style(5)).toThrow(new RangeError('style must be one of full, short, none or false, not 5'));
});

test('a factory passed as a policy is refused with the call to write', () => {
  expect(() => new RateLimiter({ policy: fixedWindow as never })).toThrow(
    'policy is the function fixedWindow itself: call it, fixedWindow({ … })',
  );
});

test.each([
  ['monthly', '1 month'],
  ['Daily', '1d'],
])('for the window %j, the error suggests %j', (window, meant) => {
  expect(() => fixedWindow({ limit: 5, window })).toThrow(`not "${window}"; did you mean '${meant}'?`);
});

test('a store refuses an old version of Node.js when it is created', () => {
  const [{ process }, old] = [globalThis, { versions: { node: '18.19.1' } }];
  try {
    globalThis.process = old as never;
    for (const open of [() => memoryStore(), () => redisStore('redis://127.0.0.1:1')])
      expect(open).toThrow(/Store needs Node.js 20 or later, not 18.19.1: install a newer one/);
  } finally {
    globalThis.process = process;
  }
});

test.each([
  [0, '0 tests'],
  [1, '1 test'],
  [2, '2 tests'],
])('%i of a thing has the right number', (number, text) => {
  expect(count(number, 'test')).toBe(text);
});

test('a plural that does not end with s is given', () => {
  expect([1, 3].map((number) => count(number, 'entry', 'entries'))).toEqual(['1 entry', '3 entries']);
});
