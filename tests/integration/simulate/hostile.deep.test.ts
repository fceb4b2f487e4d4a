import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type { Simulation } from '../../../packages/rules/src/simulate/index.js';
import { bundle } from '../../support/bundle.js';
import { run } from '../../support/run.js';

/** ms: a busy machine needs many times the few seconds of a quiet one. */
const PATIENCE = 180_000;
jest.setTimeout(PATIENCE + 10_000);

let folder: string;
let program: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
  program = await bundle(resolve(__dirname, '../../../packages/cli/src/bin.ts'));
  writeFileSync(
    join(folder, 'rules.yaml'),
    'rules:\n  - name: all\n    match: { path: /* }\n    limit: { fixedWindow: { limit: 1, window: 1m } }\n',
  );
});
afterAll(async () => {
  await program.remove();
  rmSync(folder, { recursive: true });
});

const line = (date: string) => `203.0.113.7 - - [${date} +0000] "GET / HTTP/1.1" 200 5\n`;
const GOOD = line('22/Nov/2026:12:00:00');

async function simulated(name: string, parts: () => Iterable<string | Buffer>): Promise<Simulation> {
  const file = join(folder, name);
  const target = createWriteStream(file);
  await (name.endsWith('.gz')
    ? pipeline(Readable.from(parts()), createGzip({ level: 1 }), target)
    : pipeline(Readable.from(parts()), target));
  const args = ['--max-old-space-size=48', program.file, 'simulate', '--rules', join(folder, 'rules.yaml')];
  const { ok, output } = await run(process.execPath, [...args, '--log', file, '--json'], {
    timeoutMs: PATIENCE,
  });
  if (!ok) throw new Error(output);
  return JSON.parse(output) as Simulation;
}

function* repeated(part: Buffer, times: number) {
  yield GOOD;
  for (let i = 0; i < times; i += 1) yield part;
  yield `\n${GOOD}`;
}

// The process may use 48 MB of heap; each text is 60 MB.
test.each([
  ['zeros without a newline', Buffer.alloc(1_000_000), 60, 3],
  ['newlines only', Buffer.alloc(1_000_000, '\n'), 60, 2],
  ['lines of 1 MB', Buffer.from(`${'x'.repeat(999_999)}\n`), 60, 62],
])('a compressed bomb of %s uses bounded memory', async (_, part, times, lines) => {
  const { log, rules } = await simulated('bomb.gz', () => repeated(part, times));
  expect(log).toMatchObject({ lines, requests: 2 });
  expect(rules.rules[0]).toMatchObject({ requests: 2, denied: 1 });
});

test('requests from 1970 to 9999 are replayed', async () => {
  const moments = [
    '01/Jan/1970:00:00:00',
    '31/Dec/2199:23:59:59',
    '01/Jan/2200:00:00:00',
    '31/Dec/9999:23:59:59',
  ];
  const { log, rules } = await simulated('years.log', () => [...moments.map(line), GOOD, GOOD]);
  expect(log).toMatchObject({ requests: 4, bad: 2, from: 0 });
  expect(rules.rules[0]).toMatchObject({ requests: 4, denied: 1 });
  expect(rules.rules[0]!.overTime.requests.length).toBeLessThanOrEqual(240);
});

test('ever new keys use bounded memory', async () => {
  function* keys() {
    for (let i = 0; i < 100_000; i += 1)
      yield GOOD.replace('203.0.113.7', `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  }
  const file = join(folder, 'keys.log');
  await pipeline(Readable.from(keys()), createWriteStream(file));
  const args = ['--max-old-space-size=64', program.file, 'simulate', '--rules', join(folder, 'rules.yaml')];
  const { ok, output } = await run(process.execPath, [
    ...args,
    '--log',
    file,
    '--max-keys',
    '10000',
    '--json',
  ]);
  expect(ok).toBe(true);
  const { rules } = JSON.parse(output) as Simulation;
  expect(rules).toMatchObject({ requests: 100_000, storeFull: true });
  expect(rules.rules[0]).toMatchObject({ keys: 10_000, moreKeys: true });
});
