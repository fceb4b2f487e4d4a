import { join } from 'node:path';
import { bundle } from '../../../tests/support/bundle.js';
import { freePort } from '../../../tests/support/redis/free-port.js';
import { redisUrl } from '../../../tests/support/redis-url.js';
import { run } from '../../../tests/support/run.js';

let program: Awaited<ReturnType<typeof bundle>>;
let comparison: Awaited<ReturnType<typeof bundle>>;

beforeAll(async () => {
  program = await bundle(join(__dirname, '../src/main.ts'));
  comparison = await bundle(join(__dirname, '../src/compare.ts'));
});

afterAll(() => Promise.all([program?.remove(), comparison?.remove()]));

// The machine decides how many calls arrive in which second, but none may be lost, and with acquire all are paid.
test.each([
  ['in one process', () => ({ REDIS_URL: '' })],
  ['in four processes on Redis', () => ({ REDIS_URL: redisUrl() })],
])(
  'npm start shows the calls that arrive, %s',
  async (_, env) => {
    const { ok, output } = await run(process.execPath, [program.file], { env: env() });
    const scenes = [...output.matchAll(/^(W.*): (\d+) paid, (\d+) refused .*, (\d+) denied/gm)];
    expect(scenes.map(([, title]) => title)).toEqual([
      'Without a limiter',
      'With consume, without waiting',
      'With acquire, first come, first served',
    ]);
    for (const [, , ...counts] of scenes) {
      expect(counts.map(Number).reduce((a, b) => a + b, 0)).toBe(16);
    }
    expect(scenes[0]![4]).toBe('0');
    expect(scenes[2]![4]).toBe('0');
    expect(output.match(/^ {2}taken .*[1-9]/gm)).toHaveLength(3);
    expect(ok).toBe(true);
  },
  120_000,
);

// The machine decides how many of them the gateway refuses.
test('npm run compare sends the calls of four processes in four ways', async () => {
  const env = { REDIS_URL: redisUrl(), CALLS: '1' };
  const { ok, output } = await run(process.execPath, [comparison.file], { env });
  const lines = [...output.matchAll(/^(\S.*\S) {1,}48 arrived, \d+ refused \(\d+ %\), in [\d.]+ s$/gm)];
  expect(lines.map(([, way]) => way)).toEqual([
    'asking every 100 ms',
    'acquire',
    'acquire, margin: 0',
    "acquire, margin: '50ms'",
  ]);
  expect(ok).toBe(true);
}, 240_000);

test('exits with one sentence without its Redis', async () => {
  const env = { REDIS_URL: `redis://127.0.0.1:${await freePort()}` };
  const { ok, output } = await run(process.execPath, [program.file], { env });
  expect(ok).toBe(false);
  expect(output).toMatch(/^Cannot use the Redis at redis:.*\n$/);
}, 120_000);
