import { redisStore } from '@sluice/core';
import { readDefinitions } from '@sluice/core/operations';
import { eventually } from '../../../tests/support/eventually.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { Rules } from './index.js';

test('processes publish what a rule counts by, and whether its numbers depend on a plan', async () => {
  const name = uniqueName('rules');
  const store = redisStore(redisUrl());
  const rules = new Rules(
    `
name: ${name}
plans: { free: { n: 1 } }
defaultPlan: free
rules:
  - { name: api, key: '#{user.id}', plan: '#{user.plan}', limit: { fixedWindow: { limit: $plan.n, window: 1m } } }
  - { name: sms, key: '#{body.phone}', limit: { fixedWindow: { limit: 1, window: 1m } } }
`,
    { store, deadline: '10s' },
  );
  try {
    await rules.limiter('sms').consume('+49');
    const published = await eventually(async () => {
      const own = (await readDefinitions(store)).find(({ process }) => process === store.fleet?.process);
      return own?.limiters.length === 2 && own.limiters.map(({ name, kind, key }) => [name, kind, key]);
    });
    expect(published.sort()).toEqual([
      [`${name}.api`, 'per-request', '#{user.id}'],
      [`${name}.sms`, 'limiter', '#{body.phone}'],
    ]);
  } finally {
    await rules.close();
    await store.close();
  }
});
