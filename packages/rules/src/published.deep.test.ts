import { redisStore } from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { eventually } from '../../../tests/support/eventually.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { Rules } from './index.js';

test('a process publishes the key of each rule, and its numbers for each plan', async () => {
  const name = uniqueName('rules');
  const store = redisStore(redisUrl());
  const rules = new Rules(
    `
name: ${name}
plans: { pro: { n: 5 }, free: { n: 1 } }
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
      return own?.limiters.length === 2 && own.limiters;
    });
    const policiesOf = (limit: number) => ({ [`${name}.api`]: expect.objectContaining({ limit }) });
    const plans = { free: { policies: policiesOf(1) }, pro: { policies: policiesOf(5) } };
    expect(published).toMatchObject([
      { name: `${name}.api`, kind: 'per-request', key: '#{user.id}', policies: policiesOf(1), plans },
      { name: `${name}.sms`, kind: 'limiter', key: '#{body.phone}' },
    ]);
    expect(Object.keys(published[0]!.plans!)).toEqual(['free', 'pro']);
    expect(published[1]!.plans).toBeUndefined();
  } finally {
    await rules.close();
    await store.close();
  }
});
