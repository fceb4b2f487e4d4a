import { readDefinitions } from '@sluice/fleet';
import { memoryStore, redisStore, type Store } from '../../../packages/core/src/index.js';
import { meter } from '../../../packages/meter/src/index.js';
import { type LoadedRules, loadRules, Rules, storedRules } from '../../../packages/rules/src/index.js';
import { eventually } from '../../support/eventually.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

const documentOf = (name: string, usd: number, more = '') => `
version: ${usd}
plans: { free: { usd: ${usd} }, pro: { usd: ${10 * usd} } }
defaultPlan: free
meter:
  ${name}:
    axes:
      usd: { fixedWindow: { limit: $plan.usd, window: 1d } }
      running: { concurrency: { limit: 4 } }
    overrides: { 'tenant:acme': { usd: { limit: 7 }, running: { limit: 1 } } }${more}
`;

interface Who {
  readonly tenant: string;
  readonly plan?: string;
}
const scopes = ({ tenant, plan }: Who) => [{ key: `tenant:${tenant}`, plan }];

test('a meter has the numbers of the plan of a scope, and of an override by key', async () => {
  const store = memoryStore();
  const rules = new Rules(documentOf('ai', 100), { store });
  const budget = meter({ name: 'ai', rules, scopes });
  const left = async (who: Who) => (await budget.status(who)).left;
  expect(await left({ tenant: 'a' })).toEqual({ usd: 100, running: 4 });
  expect(await left({ tenant: 'a', plan: 'pro' })).toEqual({ usd: 1000, running: 4 });
  expect(await left({ tenant: 'a', plan: 'gone' })).toEqual({ usd: 100, running: 4 });
  expect(await left({ tenant: 'acme', plan: 'pro' })).toEqual({ usd: 7, running: 1 });
  const hold = await budget.hold({ tenant: 'a', plan: 'pro' }, { usd: 400 });
  await hold.settle({ usd: 300 });
  expect(await left({ tenant: 'a' })).toEqual({ usd: -200, running: 4 });
  await expect(budget.hold({ tenant: 'acme' }, { usd: 8 })).rejects.toMatchObject({ axis: 'usd', limit: 7 });
  await budget.limiters.usd!.override('tenant:b', budget.limiters.usd!.policies[`ai:usd`]!, {
    expiresIn: '1h',
  });
  await budget.close();
  await rules.close();
  await store.close();
});

test('a version of the document closes the limiters of a meter only if it changes the meter', async () => {
  const store = memoryStore();
  const versions = [100, 100, 50].map((usd) => new Rules(documentOf('ai', usd), { store }));
  let inForce = versions[0]!;
  const rules = { store, options: {}, meter: (name: string) => inForce.meter(name) };
  const budget = meter({ name: 'ai', rules, scopes });
  const kept = budget.limiters.usd!;
  inForce = versions[1]!;
  await budget.status({ tenant: 'a' });
  await kept.block('tenant:a', '1h');
  inForce = versions[2]!;
  await budget.status({ tenant: 'a' });
  await expect(kept.unblock('tenant:a')).rejects.toMatchObject({ code: 'SLUICE_LIMITER_CLOSED' });
  await budget.limiters.usd!.unblock('tenant:a');
  await budget.close();
  await Promise.all(versions.map((one) => one.close()));
  await store.close();
});

test('meter refuses options that belong to the rules, and a meter that they do not have', async () => {
  const store = memoryStore();
  const rules = new Rules(documentOf('ai', 100), { store });
  expect(() => meter({ name: 'ai', rules, store } as never)).toThrow(/'store' belongs to the rules/);
  expect(() => meter({ name: 'ia', rules })).toThrow(/have no meter "ia"; did you mean 'ai'/);
  expect(() => meter({ name: 'ai', rules: {} as never })).toThrow(/rules must be new Rules/);
  await rules.close();
  await store.close();
});

test('a version without numbers of plans has the same limits for all, whatever plan a scope names', async () => {
  const store = memoryStore();
  const plain = new Rules('meter: { ai: { axes: { usd: { fixedWindow: { limit: 5, window: 1h } } } } }', {
    store,
  });
  const budget = meter({ name: 'ai', rules: plain, scopes });
  expect((await budget.status({ tenant: 'a', plan: 'pro' })).left).toEqual({ usd: 5 });
  await budget.close();
  await plain.close();
  await store.close();
});

describe('a meter in Redis follows its rules:', () => {
  const name = uniqueName('ai');
  let store: Store;
  let rules: LoadedRules;
  const source = () => storedRules(store as never, { name });
  beforeEach(async () => {
    store = redisStore(redisUrl());
    await source().push(documentOf(name, 100));
    rules = await loadRules(source(), { store, deadline: '10s' });
  });
  afterEach(async () => {
    await rules.close();
    await store.close();
  });
  const pushed = async (text: string, version: number) => {
    await source().push(text);
    await eventually(async () => rules.version === version);
  };

  test('a pushed limit counts for the next hold, and an open hold keeps the one with which it began', async () => {
    const budget = meter({ name, rules, scopes });
    const open = await budget.hold({ tenant: 'b' }, { usd: 60 });
    await pushed(documentOf(name, 50), 50);
    await expect(budget.hold({ tenant: 'b' }, { usd: 1 })).rejects.toMatchObject({ limit: 50, left: -10 });
    expect(await open.more({ usd: 40 })).toBe(true);
    await open.settle({ usd: 20 });
    expect((await budget.status({ tenant: 'b' })).left).toEqual({ usd: 30, running: 4 });
    expect(budget.limiters.usd!.policies).toMatchObject({ [`${name}:usd`]: { limit: 50 } });
    await budget.close();
  });

  test('other processes know the limits in force, with plans and overrides', async () => {
    const budget = meter({ name, rules, scopes });
    await budget.status({ tenant: 'b' });
    await pushed(documentOf(name, 30), 30);
    const published = (await readDefinitions(store)).flatMap(({ limiters }) => limiters);
    expect(published.find((one) => one.name === name)?.meter).toMatchObject({
      axes: { usd: { limit: 30 } },
      plans: { free: { usd: { limit: 30 } }, pro: { usd: { limit: 300 } } },
      overrides: { 'tenant:acme': { usd: { limit: 7 }, running: { limit: 1 } } },
      scopes: { tenant: ['usd', 'running'] },
    });
    await budget.close();
  });

  test('an axis that a version adds counts from then on, and a version without the meter rejects holds', async () => {
    const budget = meter({ name, rules, scopes });
    const open = await budget.hold({ tenant: 'c' }, { usd: 10 });
    const tokens = '      output: { fixedWindow: { limit: 9, window: 1d } }\n    overrides:';
    await pushed(documentOf(name, 90).replace('    overrides:', tokens), 90);
    expect((await budget.status({ tenant: 'c' })).left).toEqual({ usd: 80, running: 3, output: 9 });
    await open.settle({ usd: 5 });
    expect((await budget.status({ tenant: 'c' })).left).toEqual({ usd: 85, running: 4, output: 9 });
    await pushed(documentOf(`${name}x`, 91), 91);
    await expect(budget.hold({ tenant: 'c' }, { usd: 1 })).rejects.toThrow(/have no meter/);
    await budget.close();
  });
});
