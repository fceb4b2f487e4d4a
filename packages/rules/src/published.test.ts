import { memoryStore } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { parseRules, Rules } from './index.js';

const text = (name: string, limit: number, more = '') =>
  `rules: [{ name: ${name}, limit: { fixedWindow: { limit: ${limit}, window: 1h } }${more} }]`;
const DENY = ', failurePolicy: deny';

test('a process publishes the numbers in force, whatever changes with them, and no removed rule', async () => {
  const store = memoryStore();
  const rules = new Rules(text('api', 1), { store });
  const published = async () => (await readDefinitions(store)).flatMap(({ limiters }) => limiters);
  const ofLimit = (limit: number) => [{ name: 'rules.api', policies: { 'rules.api': { limit } } }];
  expect(await published()).toMatchObject(ofLimit(1));
  for (const [limit, more] of [
    [5, DENY],
    [7, DENY],
    [1, ''],
    [9, DENY],
  ] as const) {
    rules.replace(parseRules(text('api', limit, more)));
    expect(await published()).toMatchObject(ofLimit(limit));
  }
  rules.replace(parseRules(text('sms', 1)));
  expect(await published()).toMatchObject([{ name: 'rules.sms' }]);
  await rules.close();
  expect(await published()).toEqual([]);
  await store.close();
});
