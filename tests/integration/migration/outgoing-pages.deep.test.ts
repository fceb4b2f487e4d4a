import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';
import { FakeUpstream } from '../../support/outgoing/fake-upstream.js';
import { evaluate, SIDES, type Side } from './page.js';

const root = resolve(__dirname, '../../..');
/** Below the repository, so that the programs find their packages. */
let folder: string;
let service: FakeUpstream;
beforeAll(() => {
  folder = mkdtempSync(join(root, 'node_modules/.sluice-pages-'));
});
afterEach(() => service.stop());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The exports of a program in JavaScript, with the address of our service in place of the page's. */
async function program<T>(page: string, side: Side, origin: string, replace: string): Promise<T> {
  const text = readFileSync(join(root, `docs/migration/${page}.md`), 'utf8');
  const [, source] = new RegExp(`^\`\`\`js\\n(// ${side}\\n[\\s\\S]*?)^\`\`\`$`, 'm').exec(text)!;
  const name = join(folder, `${page}-${SIDES.indexOf(side)}`);
  writeFileSync(`${name}.mjs`, source!.replaceAll(origin, replace));
  await build({
    entryPoints: [`${name}.mjs`],
    outfile: `${name}.cjs`,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    conditions: ['@sluice/source'],
    logLevel: 'error',
  });
  return createRequire(__filename)(`${name}.cjs`);
}

/** In no window of the service were there more calls than its limit. */
function expectPaced(limit: number, window: number): void {
  const served = service.log.filter(({ status }) => status === 200).map(({ at }) => at);
  for (let i = limit; i < served.length; i += 1)
    expect(served[i]! - served[i - limit]!).toBeGreaterThan(window);
}

const PARTNER = 'https://api.partner.example';

test.each(SIDES)('p-throttle, %s: the calls are paced, and a refused one is repeated', async (side) => {
  service = await FakeUpstream.start();
  service.script = (_, number) => (number === 3 ? [429, { 'retry-after': '0.1' }] : undefined);
  const { load } =
    side === 'Before'
      ? await program<{ load: typeof fetch }>('p-throttle', side, PARTNER, service.origin)
      : await evaluate<{ load: typeof fetch }>('p-throttle', side, require, ['load'], undefined, {
          [PARTNER]: service.origin,
        });
  const began = performance.now();
  const responses = await Promise.all(Array.from({ length: 12 }, (_, i) => load(`/${i}`)));
  expect(responses.map(({ status }) => status)).toEqual(Array(12).fill(200));
  expect(service.log).toHaveLength(13);
  // Not from the first arrival, which may be late.
  expect(service.log.at(-1)!.at - began).toBeGreaterThan(700);
});

test.each(SIDES)('octokit, %s: a used-up resource is waited for, and the call repeated', async (side) => {
  service = await FakeUpstream.start();
  const json = { 'content-type': 'application/json' };
  service.script = (_, number) => {
    const reset = String(Math.ceil(Date.now() / 1000) + 1);
    const usedUp = { 'x-ratelimit-limit': '60', 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    return number === 1 ? [429, { ...json, ...usedUp }] : [200, json];
  };
  const origin = 'https://api.github.com';
  type Program = { load(repository: string): Promise<object> };
  const { load } = await program<Program>('octokit', side, origin, service.origin);
  expect(await load('x/y')).toEqual({});
  expect(service.log).toHaveLength(2);
  expect(service.log[1]!.at - service.log[0]!.at).toBeGreaterThan(900);
});

test.each(SIDES)('bottleneck, %s: a refused call is repeated', async (side) => {
  service = await FakeUpstream.start();
  service.script = (_, number) => [number === 2 ? 429 : 200, number === 2 ? { 'retry-after': '0.1' } : {}];
  const replace = { [PARTNER]: service.origin };
  const { orders } = await evaluate<{ orders: typeof fetch }>(
    'bottleneck',
    side,
    require,
    ['orders'],
    'calls',
    replace,
  );
  const order = async () => (await orders('/a')).text();
  expect(await Promise.all([order(), order(), order()])).toEqual(['{}', '{}', '{}']);
  expect(service.log).toHaveLength(4);
  expectPaced(5, 60_000);
});
