import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { memoryStore } from '@sluice/core';
import { parseRules, Rules, runTests } from '@sluice/rules';
import { serve } from '@sluice/serve';
import { serve as command } from '../../../packages/cli/src/commands/serve.js';

const page = readFileSync(resolve(__dirname, '../../../docs/serve.md'), 'utf8');
const block = (language: string): string =>
  new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'ms').exec(page)![1]!;

test('the rules of the page are valid, and their tests pass', async () => {
  const set = parseRules(block('yaml'));
  expect([set.rules.length, (await runTests(set)).failed]).toEqual([3, []]);
});

test('the answer of the page is the answer of the server', async () => {
  const store = memoryStore();
  const rules = new Rules('rules: [{ name: sms, limit: { fixedWindow: { limit: 1, window: 1m } } }]', {
    store,
  });
  const served = await serve(rules, { port: 0, grpcPort: 0 });
  const [, body] = /-d '(\{.*?\})'/.exec(page)!;
  const response = await fetch(`http://127.0.0.1:${served.port}/v1/consume`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body!,
  });
  expect(await response.json()).toEqual({ ...JSON.parse(block('json')), source: 'memory' });
  await served.close();
  await rules.close();
  await store.close();
});

test('the page has all options of the command', () => {
  const flags = command.options.map(({ flags }) => flags.split(' ')[0]);
  const listed = [...page.matchAll(/^\| `(--[\w-]+)` \|/gm)].map(([, flag]) => flag);
  expect(listed.sort()).toEqual(flags.sort());
});
