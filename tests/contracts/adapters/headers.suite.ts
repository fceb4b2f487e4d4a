import { createHash } from 'node:crypto';
import { parseList } from 'structured-headers';
import { fixedWindow } from '../../../packages/core/src/index.js';
import { hourly, onEachAdapter } from './on-each-framework.js';

/** The headers of the limits. */
const limitHeaders = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => /ratelimit|retry-after/.test(name)));

onEachAdapter(({ start, advance }) => {
  test.each(['draft-11', 'draft-8'] as const)('%s lists an item for each policy', async (standardHeaders) => {
    const client = await start({ limits: [{ name: 'api', policy: hourly(1), standardHeaders }] });
    const first = await client.get('/').expect(200);
    expect(limitHeaders(first.headers)).toEqual({
      'ratelimit-policy': '"api";q=1;w=3600',
      ratelimit: '"api";r=0;t=3600',
    });
    await advance('1500ms');
    const denied = await client.get('/').expect(429);
    expect(limitHeaders(denied.headers)).toEqual({
      'ratelimit-policy': '"api";q=1;w=3600',
      ratelimit: '"api";r=0;t=3599',
      'retry-after': '3599',
    });
  });

  test('draft-7 has one line for the tightest policy', async () => {
    const policies = { hour: hourly(1), day: fixedWindow({ limit: 9, window: '1d' }) };
    const client = await start({ limits: [{ name: 'api', policies, standardHeaders: 'draft-7' }] });
    const first = await client.get('/').expect(200);
    expect(limitHeaders(first.headers)).toEqual({
      'ratelimit-policy': '1;w=3600, 9;w=86400',
      ratelimit: 'limit=1, remaining=0, reset=3600',
    });
    const denied = await client.get('/').expect(429);
    expect(limitHeaders(denied.headers)).toEqual({
      'ratelimit-policy': '1;w=3600, 9;w=86400',
      ratelimit: 'limit=1, remaining=0, reset=3600',
      'retry-after': '3600',
    });
  });

  test.each(['draft-6', true] as const)('%s has a header for each number', async (standardHeaders) => {
    const client = await start({ limits: [{ policy: hourly(2), standardHeaders }] });
    const first = await client.get('/').expect(200);
    expect(limitHeaders(first.headers)).toEqual({
      'ratelimit-policy': '2;w=3600',
      'ratelimit-limit': '2',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '3600',
    });
  });

  test.each([
    ['beside the standard ones', {}, ['ratelimit', 'ratelimit-policy']],
    ['alone', { standardHeaders: false }, []],
  ] as const)('legacyHeaders %s', async (_, options, beside) => {
    const client = await start({ limits: [{ policy: hourly(1), legacyHeaders: true, ...options }] });
    const before = Date.now();
    const { headers } = await client.get('/').expect(200);
    const after = Date.now();
    const names = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', ...beside];
    expect(Object.keys(limitHeaders(headers)).sort()).toEqual(names.sort());
    expect(headers).toMatchObject({ 'x-ratelimit-limit': '1', 'x-ratelimit-remaining': '0' });
    const reset = Number(headers['x-ratelimit-reset']);
    expect(reset).toBeGreaterThanOrEqual(Math.ceil(before / 1000) + 3600);
    expect(reset).toBeLessThanOrEqual(Math.ceil(after / 1000) + 3600);
    await client.get('/').expect(429).expect('Retry-After', '3600').expect('X-RateLimit-Remaining', '0');
  });

  test('Retry-After is the only header when both styles are off', async () => {
    const client = await start({ limits: [{ policy: hourly(1), standardHeaders: false }] });
    expect(limitHeaders((await client.get('/').expect(200)).headers)).toEqual({});
    expect(limitHeaders((await client.get('/').expect(429)).headers)).toEqual({ 'retry-after': '3600' });
  });

  test('pk is the same for one key and differs between keys', async () => {
    const client = await start({
      limits: [{ name: 'api', policy: hourly(9), key: "#{headers['x-key']}", partitionKey: true }],
    });
    const partition = async (key: string) => {
      const { headers } = await client.get('/').set('x-key', key).expect(200);
      const [[, quota], [, left]] = [headers['ratelimit-policy'], headers.ratelimit].map(
        (line) => parseList(line!)[0]!,
      ) as [ReturnType<typeof parseList>[0], ReturnType<typeof parseList>[0]];
      const bytes = Buffer.from(left.get('pk') as ArrayBuffer);
      expect(Buffer.from(quota.get('pk') as ArrayBuffer)).toEqual(bytes);
      return bytes.toString('hex');
    };
    const hash = (key: string) => createHash('sha256').update(key).digest('hex').slice(0, 24);
    expect(await partition('ann')).toBe(hash('ann'));
    expect(await partition('ann')).toBe(hash('ann'));
    expect(await partition('bob')).toBe(hash('bob'));
  });

  test('each of several limits has the pk of its own key', async () => {
    const client = await start({
      limits: [
        {
          name: 'api',
          limits: {
            user: { policy: hourly(9), limitType: 'USER' },
            all: { policy: hourly(9), limitType: 'METHOD' },
          },
          partitionKey: true,
        },
      ],
    });
    const partitions = async (user: string) => {
      const { headers } = await client.get('/').set('x-user', user).expect(200);
      return parseList(headers.ratelimit!).map(([, parameters]) =>
        Buffer.from(parameters.get('pk') as ArrayBuffer).toString('hex'),
      );
    };
    const [ann, all] = await partitions('ann');
    const [bob, again] = await partitions('bob');
    expect(ann).not.toBe(bob);
    expect(all).toBe(again);
  });

  test('limits of one style share its headers, which show the tightest limit', async () => {
    const client = await start({
      limits: [
        { name: 'wide', policy: hourly(9), standardHeaders: 'draft-6' },
        { name: 'tight', policy: hourly(2), standardHeaders: 'draft-6' },
        { name: 'between', policy: hourly(5), standardHeaders: 'draft-6' },
      ],
    });
    const { headers } = await client.get('/').expect(200);
    expect(limitHeaders(headers)).toEqual({
      'ratelimit-policy': '9;w=3600, 2;w=3600, 5;w=3600',
      'ratelimit-limit': '2',
      'ratelimit-remaining': '1',
      'ratelimit-reset': '3600',
    });
  });
});
