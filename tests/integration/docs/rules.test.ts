import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseRules, runTests } from '@sluice/rules';

const root = resolve(__dirname, '../../..');
const page = readFileSync(resolve(root, 'docs/rules.md'), 'utf8');
const documents = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);

test.each(documents)('a document of the page is valid, and its tests pass: %#', async (text) => {
  const set = parseRules(text);
  expect((await runTests(set)).failed).toEqual([]);
});

test('the page shows documents with tests', async () => {
  const tests = documents.map((text) => parseRules(text).tests.length);
  expect(tests.reduce((sum, count) => sum + count)).toBeGreaterThan(3);
});

const { definitions, properties } = JSON.parse(
  readFileSync(resolve(root, 'packages/rules/schema.json'), 'utf8'),
);
/** Follows a reference; one with a description is in `allOf`. */
function resolved(schema: { $ref?: string; allOf?: [object] }): {
  properties: Record<string, object>;
  items: object;
} {
  const { $ref } = schema;
  if ($ref !== undefined) return resolved(definitions[$ref.replace('#/definitions/', '')]);
  return schema.allOf === undefined ? (schema as never) : resolved(schema.allOf[0]);
}
const rule = resolved(resolved(properties.rules).items);

test.each([
  ['a document', Object.keys(properties)],
  ['a rule', Object.keys(rule.properties)],
  ['a match', Object.keys(resolved(rule.properties.match!).properties)],
])('the page names every field of %s', (_, fields) => {
  const documented = [...page.matchAll(/^\| (`.*?`(?:, `.*?`)*) +\|/gm)].flatMap(([, names]) =>
    names!.split(', ').map((name) => name.replaceAll('`', '')),
  );
  expect(fields.filter((field) => !documented.includes(field))).toEqual([]);
});
