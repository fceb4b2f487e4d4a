import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { concurrency, fixedWindow, ManualClock, redisStore, type Store } from '@sluice/core';
import { announce, NO_POLICIES } from '@sluice/core/internal';
import { readDefinitions } from '@sluice/fleet';
import { type Meter, meter } from '@sluice/meter';
import { Rules } from '@sluice/rules';
import { sqliteStore } from '@sluice/sqlite';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import type { CommandDefinition, Context } from './command.js';
import { explain } from './commands/explain.js';
import { inspect } from './commands/inspect.js';
import { ls } from './commands/ls.js';
import { override } from './commands/override.js';
import { top } from './commands/top.js';
import { Notes } from './notes.js';
import { Output } from './output.js';

/** 2026-11-28 12:00 UTC. */
const NOON = Date.UTC(2026, 10, 28, 12) * 1000;

interface Who {
  readonly tenant: string;
  readonly user: string;
}
const ann = { tenant: 'acme', user: 'ann' };

function budgetOf(store: Store, name: string): Meter<Who, 'usd' | 'running'> {
  return meter({
    name,
    store,
    deadline: '10s',
    axes: { usd: fixedWindow({ limit: 100, window: '1h' }), running: concurrency({ limit: 3 }) },
    scopes: ({ tenant, user }: Who) => [`tenant:${tenant}`, { key: `user:${user}`, axes: ['usd'] }],
  });
}

/** Runs a command on a store. */
async function run(
  store: Store,
  command: CommandDefinition,
  args: string[],
  options: Record<string, string | boolean> = {},
  isJson = false,
) {
  let written = '';
  const write = (text: string) => {
    written += text;
  };
  const stderr = new PassThrough();
  const context = {
    ...{ store, output: new Output({ write }, isJson, {}, false), notes: new Notes(stderr, {}) },
    ...{ ask: <T>(answer: Promise<T>) => answer, stdin: new PassThrough(), stderr, env: {} },
  } as unknown as Context;
  const code = await command.run(context, args, options);
  return { code, written };
}

describe('sluice knows a meter', () => {
  let folder: string;
  let store: Store;
  let budget: Meter<Who, 'usd' | 'running'>;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-meters-'));
    store = sqliteStore({ file: join(folder, 'limits.db'), clock: new ManualClock(NOON) });
    budget = budgetOf(store, 'ai');
    const hold = await budget.hold(ann, { usd: 60 });
    await hold.settle({ usd: 70 });
    await budget.hold(ann, { usd: 20 }, { lapse: 'refund' });
  });
  afterEach(async () => {
    await budget.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  test('ls lists its axes, with the kinds of scopes that they count for, and not again as limiters', async () => {
    expect((await run(store, ls, [])).written).toBe(
      [
        'METER  AXIS     POLICY                     SCOPES        PROCESSES',
        'ai     usd      100 per 1 h (fixedWindow)  tenant, user  1',
        '       running  3 at once (concurrency)    tenant',
        '',
      ].join('\n'),
    );
  });

  test('explain shows the spent, held and left amounts of each axis for a user, and that a call passes', async () => {
    expect(await run(store, explain, ['ai', 'ann'])).toEqual({
      code: 0,
      written: [
        "Yes: meter 'ai' would let a call of 'user:ann' pass now.",
        'AXIS  SCOPE     LIMIT  SPENT  HELD  LEFT  FREES',
        'usd   user:ann  100    70     20    10',
        '',
      ].join('\n'),
    });
  });

  test('explain names the axis that stops a scope, and when it frees', async () => {
    const { code, written } = await run(store, explain, ['ai', 'tenant:acme'], { cost: '11' });
    expect([code, written.split('\n')]).toEqual([
      1,
      [
        expect.stringMatching(/^No: axis usd of meter 'ai' stops 'tenant:acme' until [\d:]{8}, in 32 s\.$/),
        expect.stringMatching(/^AXIS/),
        expect.stringMatching(/^usd +tenant:acme +100 +70 +20 +10 +at [\d:]{8}, in 32 s$/),
        expect.stringMatching(/^running +tenant:acme +3 +0 +1 +2$/),
        '',
      ],
    ]);
    await budget.hold(ann, {});
    await budget.hold(ann, {});
    const stopped = await run(store, explain, ['ai', 'tenant:acme'], {}, true);
    expect(stopped.code).toBe(1);
    const scope = JSON.parse(stopped.written);
    expect(scope).toMatchObject({ meter: 'ai', scope: 'tenant:acme' });
    expect(scope.axes).toMatchObject([
      { axis: 'usd', used: 70, held: 20, left: 10, wait: 0 },
      { axis: 'running', limit: 3, held: 3, left: 0, wait: 31_125_504 },
    ]);
  });

  test('explain says that an amount above the limit never fits, and names a block', async () => {
    const never = await run(store, explain, ['ai', 'ann'], { cost: 'usd=101' });
    expect([never.code, never.written.split('\n')[0]]).toEqual([
      1,
      "No: axis usd of meter 'ai' stops 'user:ann': more than its 100 never fit.",
    ]);
    await budget.limiters.usd!.block('user:ann', '2h');
    const blocked = await run(store, explain, ['ai', 'ann']);
    expect(blocked.written).toMatch(/usd of 'user:ann' is blocked; the block ends at .*, in 2 h\./);
    expect(blocked.code).toBe(1);
  });

  test('explain refuses axes, amounts and plans that the meter does not have', async () => {
    const refused = (options: Record<string, string>) => run(store, explain, ['ai', 'ann'], options);
    await expect(refused({ cost: 'eur=1' })).rejects.toThrow("The meter has no axis 'eur'.");
    await expect(refused({ cost: 'usd=1.5' })).rejects.toThrow("'1.5' is no amount of axis 'usd'.");
    await expect(refused({ plan: 'pro' })).rejects.toThrow(
      "The limits of meter 'ai' do not depend on a plan.",
    );
  });

  test('inspect shows the meter beside the limiters of its axes, also by the part of a key behind the colon', async () => {
    const { code, written } = await run(store, inspect, ['user:ann']);
    expect(code).toBe(0);
    expect(written).toContain('ai:usd  100 per 1 h (fixedWindow)\n  70 of 100 used');
    expect(written).toContain('ai (meter)\nAXIS  SCOPE     LIMIT  SPENT  HELD  LEFT  FREES\nusd   user:ann');
    expect((await run(store, inspect, ['ann'], { limiter: 'ai' })).code).toBe(0);
    expect((await run(store, inspect, ['bob'], { limiter: 'ai' })).code).toBe(1);
  });

  test('a command that changes a key takes an axis, and says so for a meter', async () => {
    const change = (limiter: string) =>
      run(store, override, ['user:ann', 'limit=500'], { limiter, for: '1h', yes: true });
    await expect(change('ai')).rejects.toMatchObject({
      message: "'ai' is a meter, and this command takes one of its axes.",
      remedy: 'Give the axis: --limiter ai:usd.',
    });
    await expect(change('ai:running')).rejects.toThrow(
      "Axis 'running' of meter 'ai' limits what runs at once, and has no numbers of a key.",
    );
    expect((await change('ai:usd')).code).toBe(0);
    expect((await run(store, explain, ['ai', 'ann'])).written).toContain(
      'usd   user:ann  500    70     20    410',
    );
  });
});

describe('sluice top', () => {
  let folder: string;
  let store: ReturnType<typeof sqliteStore>;
  let budget: Meter<Who, 'usd' | 'running'>;
  let name: string;
  beforeEach(async () => {
    name = uniqueName('ai');
    folder = mkdtempSync(join(tmpdir(), 'sluice-top-'));
    store = sqliteStore({ file: join(folder, 'limits.db'), usage: { keys: 'plain' } });
    budget = budgetOf(store, name);
    const spend = async (tenant: string, user: string, usd: number) => {
      const hold = await budget.hold({ tenant, user }, { usd: 1 });
      await hold.settle({ usd });
      await hold.settle({ usd });
    };
    await spend('acme', 'ann', 30);
    await spend('acme', 'ben', 40);
    await spend('umbrella', 'cleo', 50);
    await expect(budget.hold(ann, { usd: 31 })).rejects.toMatchObject({ axis: 'usd', scope: 'tenant:acme' });
    await store.usage!.publish();
  });
  afterEach(async () => {
    await budget.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });

  test('lists with --cost the keys that spent most of each axis', async () => {
    const { code, written } = await run(store, top, [], { most: '2', cost: true, limiter: name });
    expect([code, written.split('\n').slice(0, -2)]).toEqual([
      0,
      [
        'METER             AXIS  KEY              SPENT',
        `${name}  usd   tenant:acme      70`,
        '                        tenant:umbrella  50',
      ].map((line) => line.replace(/^METER +AXIS/, `${'METER'.padEnd(name.length)}  AXIS`)),
    ]);
    const json = await run(store, top, [], { most: '1', cost: true, limiter: `${name}:usd` }, true);
    expect(JSON.parse(json.written)).toMatchObject({
      meter: name,
      axis: 'usd',
      key: 'tenant:acme',
      count: 70,
    });
    expect((await run(store, top, [], { most: '5', cost: true, limiter: `${name}:running` })).code).toBe(1);
  });

  test('lists the keys that an axis denied, under the name that explain takes', async () => {
    const { written } = await run(store, top, [], { most: '5', limiter: name }, true);
    expect(JSON.parse(written)).toMatchObject({ limiter: `${name}:usd`, key: 'tenant:acme', count: 1 });
  });
});

test('explain takes the numbers of a plan, and of an override of a document of rules', async () => {
  const store = redisStore(redisUrl());
  const name = uniqueName('ai');
  const rules = new Rules(
    `
plans: { free: { usd: 5 }, pro: { usd: 500 } }
defaultPlan: free
meter:
  ${name}:
    axes: { usd: { fixedWindow: { limit: $plan.usd, window: 1h } } }
    overrides: { acme: { usd: { limit: 7 } } }
`,
    { store, deadline: '10s' },
  );
  const budget = meter({ name, rules, scopes: (key: string) => [key] });
  try {
    const hold = await budget.hold('ann', { usd: 5 });
    await hold.settle({ usd: 5 });
    const limitOf = async (key: string, options = {}) => {
      const { code, written } = await run(store, explain, [name, key], options, true);
      const { plan, axes } = JSON.parse(written);
      return [code, plan, axes[0].limit];
    };
    expect(await limitOf('ann')).toEqual([1, 'free', 5]);
    expect(await limitOf('ann', { plan: 'pro' })).toEqual([0, 'pro', 500]);
    expect(await limitOf('acme')).toEqual([0, 'free', 7]);
    expect((await run(store, explain, [name, 'ann'])).written).toMatch(
      /These are the limits of the plan 'free'\. For another one: --plan pro\.\n$/,
    );
    expect((await run(store, ls, [])).written).toMatch(
      /usd +5 per 1 h \(fixedWindow\), plan free; others: pro/, // as wide as the axes of other meters
    );
    await expect(limitOf('ann', { plan: 'max' })).rejects.toMatchObject({ remedy: 'Known are: free, pro.' });
  } finally {
    await budget.close();
    await rules.close();
    await store.close();
  }
});

test('processes that have used other kinds of scopes have one meter', async () => {
  const stores = [redisStore(redisUrl()), redisStore(redisUrl()), redisStore(redisUrl())] as const;
  const name = uniqueName('ai');
  const budgets = stores.map((store) =>
    meter({
      ...{ name, store, deadline: '10s', axes: { usd: fixedWindow({ limit: 100, window: '1h' }) } },
      scopes: (keys: readonly string[]) => keys,
    }),
  );
  try {
    await budgets[0]!.hold(['user:ann', 'tenant:acme'], { usd: 100 });
    await budgets[1]!.status(['tenant:acme', 'user:bob']);
    await budgets[2]!.status(['tenant:acme']);
    for (const store of stores) await readDefinitions(store); // publishes them
    const listed = (await run(stores[0], ls, [])).written.split('\n').filter((line) => line.includes(name));
    expect(listed).toEqual([expect.stringMatching(/100 per 1 h \(fixedWindow\) +\w+, \w+ +3$/)]);
    const { code, written } = await run(stores[0], explain, [name, 'ann'], {}, true);
    expect([code, JSON.parse(written)]).toEqual([1, expect.objectContaining({ scope: 'user:ann' })]);
  } finally {
    await Promise.all(budgets.map((budget) => budget.close()));
    await Promise.all(stores.map((store) => store.close()));
  }
});

test('explain refuses a meter that a later version has published, and inspect shows the others', async () => {
  const [store, newer] = [redisStore(redisUrl()), redisStore(redisUrl())];
  const name = uniqueName('ai');
  const budget = budgetOf(store, `${name}-known`);
  try {
    const hold = await budget.hold(ann, { usd: 3 });
    await newer.connect();
    const announced = announce(newer.fleet, 'v2', name, () => ({
      ...{ kind: 'meter', name, keyPrefix: 'sluice', hashTag: name, ...NO_POLICIES },
      meter: { axes: { usd: { algorithm: 'quantum', limit: 5 } as never }, soft: [], scopes: {} },
    }));
    await readDefinitions(newer);
    await readDefinitions(store);
    await expect(run(store, explain, [name, 'user:ann'])).rejects.toThrow(/cannot be read: .*algorithm/);
    const { code, written } = await run(store, inspect, ['user:ann']);
    expect(code).toBe(0);
    expect(written).toMatch(new RegExp(`${name} \\(meter\\)\n  It cannot be read: `));
    expect(written).toMatch(new RegExp(`${name}-known \\(meter\\)\nAXIS`));
    announced();
    await hold.cancel();
  } finally {
    await budget.close();
    await Promise.all([store.close(), newer.close()]);
  }
});

test('explain reads a meter of another process in Redis, and changes nothing there', async () => {
  const [store, reader] = [redisStore(redisUrl()), redisStore(redisUrl())];
  const name = uniqueName('ai');
  const budget = budgetOf(store, name);
  try {
    const hold = await budget.hold(ann, { usd: 30 });
    await budget.hold(ann, { usd: 20 }, { lapse: 'refund' });
    await run(store, ls, []); // publishes it
    for (const cost of ['50', '51']) {
      const { code, written } = await run(reader, explain, [name, 'tenant:acme'], { cost });
      expect([code, written.split('\n').slice(2)]).toEqual([
        cost === '50' ? 0 : 1,
        expect.arrayContaining([expect.stringMatching(/^usd +tenant:acme +100 +30 +20 +50/)]),
      ]);
    }
    expect((await hold.settle({ usd: 10 })).left).toEqual({ usd: 70, running: 2 });
  } finally {
    await budget.close();
    await Promise.all([store.close(), reader.close()]);
  }
});
