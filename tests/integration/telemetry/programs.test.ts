import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundle } from '../../support/bundle.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { run } from '../../support/run.js';

let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  program = await bundle(join(__dirname, 'program.ts'));
});
afterAll(() => program.remove());

const decided = [
  [
    [true, 2],
    [true, 1],
    [true, 0],
    [false, 0],
  ],
  'SLUICE_RATE_LIMIT_EXCEEDED',
];
const order = ['redis', 'memory'].flatMap((where) => [1, 2, 3, 4].map((i) => `${where} ${i}`));

test.each(['throwing', 'slow'])('a %s subscriber changes no decision and no order', async (kind) => {
  const { ok, output } = await run(process.execPath, [
    program.file,
    redisUrl(),
    uniqueName('delivered'),
    kind,
  ]);
  expect({ ok, output: ok ? '' : output }).toEqual({ ok: true, output: '' });
  const seen = JSON.parse(output);
  expect(seen.results).toEqual([decided, decided]);
  expect(seen.order).toEqual(order);
  expect(seen.delivered).toBeGreaterThanOrEqual(2 * (4 + 1 + 1) + 1);
  expect(seen.thrown).toHaveLength(kind === 'throwing' ? seen.delivered : 0);
});

test('the ESM and the CommonJS copy of the package publish on the same channels', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-copies-'));
  try {
    for (const format of ['esm', 'cjs'] as const)
      await build({
        entryPoints: [join(__dirname, '../../../packages/core/src/index.ts')],
        outfile: join(folder, format === 'esm' ? 'core.mjs' : 'core.cjs'),
        bundle: true,
        platform: 'node',
        format,
        conditions: ['@sluice/source'],
        external: ['ioredis'],
        logLevel: 'error',
      });
    const main = join(folder, 'main.mjs');
    await writeFile(
      main,
      `import * as esm from './core.mjs';
import cjs from './core.cjs';
const seen = [];
for (const core of [esm, cjs]) core.subscribe('sluice:decision', ({ limiter }) => seen.push(limiter));
for (const [name, { RateLimiter, fixedWindow }] of Object.entries({ esm, cjs }))
  await new RateLimiter({ name, policy: fixedWindow({ limit: 1, window: '1h' }) }).consume('k');
console.log(esm.RateLimiter === cjs.RateLimiter, seen.join());
`,
    );
    expect(await run(process.execPath, [main])).toEqual({ ok: true, output: 'false esm,esm,cjs,cjs\n' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
