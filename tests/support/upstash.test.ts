import { Redis as Upstash } from '@upstash/redis';
import { redisUrl, uniqueName } from './redis-url.js';
import { UPSTASH_TOKEN, UpstashDouble } from './upstash.js';

let double: UpstashDouble;
beforeAll(async () => {
  double = await UpstashDouble.start(redisUrl());
});
afterAll(() => double.stop());

const client = (token = UPSTASH_TOKEN, options = {}) =>
  new Upstash({
    url: double.url,
    token,
    enableTelemetry: false,
    enableAutoPipelining: false,
    retry: false,
    ...options,
  });

test("answers the client of Upstash as Upstash's own API does", async () => {
  const redis = client();
  const key = uniqueName('double');
  expect(await redis.set(key, 'é€ \u{1f600}', { ex: 60 })).toBe('OK');
  expect(await redis.get(key)).toBe('é€ \u{1f600}');
  expect(await redis.get(uniqueName('none'))).toBeNull();
  const [length, ttl, deleted] = await redis.pipeline().strlen(key).ttl(key).del(key).exec();
  expect([length, deleted]).toEqual([10, 1]);
  expect(ttl).toBeGreaterThan(30);
  expect(ttl).toBeLessThanOrEqual(60);
  expect(double.requests.at(-1)).toEqual(['STRLEN', 'TTL', 'DEL']);
  const script = 'return { 1, ARGV[1], KEYS[1], false, { 1125899906842624 } }';
  const expected = [1, 'é', key, null, [2 ** 50]];
  expect(await redis.eval(script, [key], ['é'])).toEqual(expected);
  const plain = client(UPSTASH_TOKEN, { responseEncoding: false });
  expect(await plain.eval(script, [key], ['é'])).toEqual(expected);
});

test('reports the errors of commands one by one, and refuses a wrong token', async () => {
  const redis = client();
  const replies = await redis
    .pipeline()
    .evalsha('0'.repeat(40), [], [])
    .echo('still answered')
    .exec({ keepErrors: true });
  expect(replies).toEqual([
    { error: expect.stringMatching(/^NOSCRIPT/), result: undefined },
    { error: undefined, result: 'still answered' },
  ]);
  await expect(redis.evalsha('0'.repeat(40), [], [])).rejects.toThrow(/NOSCRIPT/);
  await expect(client('wrong').ping()).rejects.toThrow(/WRONGPASS/);
});
