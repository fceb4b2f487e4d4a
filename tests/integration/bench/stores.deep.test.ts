import { rowsOf, runner } from './run-bench.js';

const bench = runner('stores.mjs');

test('a quick run has a result for every contender in every cell', async () => {
  const { ok, output } = await bench('--quick', '--only=50,hot,keys,denied');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  expect(output).toMatch(/^Noise: /m);

  const ratios = rowsOf(output, 'decisions/s ÷ rate-limiter-flexible');
  const names = ratios.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'Sluice, fixedWindow',
      'Sluice, tokenBucket',
      'rate-limiter-flexible',
      'rate-limiter-flexible, fastest settings',
      'rate-limit-redis (express-rate-limit)',
      '@fastify/rate-limit, RedisStore',
      '@upstash/ratelimit, fixedWindow',
      'koa-ratelimit',
      'Redisson-like script',
      'plain INCR',
      'bare EVALSHA (GCRA)',
    ]),
  );
  for (const { cells } of ratios) {
    expect(cells).toHaveLength(3);
    for (const cell of cells) expect(cell).toMatch(/^\d+(\.\d+)?$/);
  }
  expect(ratios.find(({ name }) => name === 'rate-limiter-flexible')!.cells).toEqual(Array(3).fill('1.00'));

  for (const title of ['thousand decisions/s', 'Redis CPU', 'client CPU', 'p50 / p99', 'on Redis']) {
    expect(rowsOf(output, title).map(({ name }) => name)).toEqual(names);
  }
  expect(output).not.toContain('memory, one after the other');
}, 120_000);

test('--only runs the named contenders and their peers', async () => {
  const { ok, output } = await bench('--quick', '--only=memory,sluice-window');
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const rows = rowsOf(output, 'memory');
  expect(rows.map(({ name }) => name)).toEqual([
    'Sluice, fixedWindow',
    'Sluice, fixedWindow, `consumeSync`',
    'rate-limiter-flexible, RateLimiterMemory',
    '@fastify/rate-limit, LocalStore',
  ]);
  for (const { cells } of rows) for (const cell of cells) expect(cell).toMatch(/^-?\d+(\.\d+)?$/);
  expect(output).not.toContain('decisions/s ÷ rate-limiter-flexible');
}, 120_000);

test.each([
  ['--only=nobody', 'nothing is named nobody'],
  ['--only=memory,upstash', 'leaves nothing'],
  ['--slow', "Unknown option '--slow'"],
  ['--quick --write', '--write needs a whole run'],
])('refuses %s', async (options, message) => {
  const { ok, output } = await bench(...options.split(' '));
  expect(ok).toBe(false);
  expect(output).toContain(message);
});
