import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

let program: Program;
beforeAll(async () => {
  program = await startBlock('docs/recipes/kafka.md', 'kafka', {
    modules: await recipePackages(),
    files: { 'kafkajs-double.ts': await readFile(join(__dirname, 'kafka-double.ts'), 'utf8') },
    replace: { "from 'kafkajs'": "from './kafkajs-double.js'", "window: '1s'": "window: '2s'" },
    ready: 'sent',
  });
}, 300_000);
afterAll(() => program?.stop());

test('a denied message pauses its partition and is delivered again; each is handled once, in order', async () => {
  await eventually(async () => program.output().includes('committed 12 3 1'));
  const lines = program.output().split('\n');
  const sent = (customer: string) => lines.filter((line) => line.startsWith(`sent ${customer} `));
  expect(sent('acme')).toEqual(Array.from({ length: 12 }, (_, i) => `sent acme a${i}`));
  expect(sent('globex')).toEqual(Array.from({ length: 3 }, (_, i) => `sent globex g${i}`));
  expect(lines.filter((line) => line.startsWith('paused')).length).toBeGreaterThanOrEqual(2);
  expect(lines.indexOf('sent globex g2')).toBeLessThan(lines.indexOf('sent acme a5'));
  expect(lines).toContain('sent  without a key');
  expect(lines.filter((line) => line.startsWith('paused') && line !== 'paused 0')).toEqual([]);
  expect(lines.filter((line) => !/^(?:sent|paused|committed) /.test(line))).toEqual(['']);
});
