import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readDefinitions } from '@sluice/fleet';
import { Redis } from 'ioredis';
import { redisStore } from '../../../packages/core/src/index.js';
import { loadRules, Rules, storedRules } from '../../../packages/rules/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { sluice } from './sluice.js';

let server: RedisServer;
let admin: Redis;
let env: Record<string, string>;
let folder: string;
let file: string;

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  env = { REDIS_URL: server.url };
  folder = await mkdtemp(join(tmpdir(), 'sluice-cli-'));
  file = join(folder, 'limits.yaml');
});
beforeEach(() => admin.flushall());
afterAll(async () => {
  admin.disconnect();
  await server.stop();
  await rm(folder, { recursive: true });
});

const text = (version: number, limit: number, more = '') =>
  `version: ${version}\nrules:\n  - { name: api, match: { path: /* }, limit: { fixedWindow: { limit: ${limit}, window: 1m } } }\n${more}`;
const write = (content: string) => writeFile(file, content);
const run = (...args: string[]) => sluice(args, env);

test('push, diff and rollback show the changes and the processes that run them', async () => {
  await write(text(41, 100));
  expect((await run('rules')).code).toBe(1);
  const first = await run('diff', file);
  expect([first.code, first.stdout]).toEqual([
    1,
    "Nothing was pushed for the rules 'rules' yet.\n+ api: limit 100 per 1 min (fixedWindow)\n",
  ]);
  const refused = await run('push', file);
  expect([refused.code, refused.stderr]).toEqual([
    2,
    expect.stringContaining('there is no terminal to ask on'),
  ]);
  expect(await admin.dbsize()).toBe(0);

  const pushed = await run('push', file, '--yes', '--by', 'ann');
  expect([pushed.code, pushed.stdout.split('\n').at(-2)]).toEqual([
    0,
    'Pushed as number 1 (version 41). Who runs it: sluice rules rules',
  ]);
  expect((await run('push', file, '--yes')).stdout).toMatch(/^The store has this text already: number 1/);
  expect((await run('diff', file)).code).toBe(0);

  const store = redisStore(server.url);
  const rules = await loadRules(storedRules(store), { store });
  try {
    await rules.limiter('api').consume('ann');
    await write(text(42, 200));
    const diff = await run('diff', file);
    expect([diff.code, diff.stdout]).toEqual([
      1,
      'Compared with number 1 (version 41) in the store:\n~ version: 41 → 42\n' +
        '~ api, limit: 100 per 1 min (fixedWindow) → 200 per 1 min (fixedWindow)\n',
    ]);
    const json = await run('diff', file, '--json');
    expect(json.values()).toMatchObject([
      { latest: 1, differences: [{ what: 'version' }, { kind: 'changed', rule: 'api', what: 'limit' }] },
    ]);
    await run('push', file, '--yes', '--by', 'bob');
    await eventually(async () => rules.version === 42);
    await eventually(async () => (await readDefinitions(store))[0]?.rules?.[0]?.version === 42);
    const other = await run('rules', 'shop');
    expect([other.code, other.stdout]).toEqual([
      1,
      "Nothing was pushed for the rules 'shop', and no process has them. Processes have 'rules'.\n",
    ]);
    const listed = await run('rules');
    expect(listed.stdout).toMatch(/^2 +42 +[\d :-]+ bob$/m);
    expect(listed.stdout).toMatch(/^1 +41 +[\d :-]+ ann$/m);
    expect(listed.stdout).toMatch(
      new RegExp(`:${process.pid} +42 +redis sluice:v2:rules:\\{rules\\} +.* ago$`, 'm'),
    );
    const back = await run('rollback', '--yes');
    expect([back.code, back.stdout.split('\n').at(-2)]).toEqual([0, 'Pushed as number 3 (version 41).']);
    await eventually(async () => rules.version === 41);
    expect((await run('rules')).stdout).toMatch(/^3 .* rollback to 1$/m);
    expect((await run('rollback', '9', '--yes')).stderr).toMatch(
      /There is no version 9 .*There are: 3, 2, 1/s,
    );
  } finally {
    await rules.close();
    await store.close();
  }
});

test('after an eviction of the latest version rules and diff report it, push and rollback repair it', async () => {
  for (const version of [1, 2, 3]) {
    await write(text(version, version));
    await run('push', file, '--yes', '--by', '\u001b[2Jann');
  }
  const evict = async (number: number) => {
    const listed = (await admin.get('sluice:v2:rules:{rules}'))!.split('\n');
    const { id } = listed.map((line) => JSON.parse(line.slice(14))).find((one) => one.number === number);
    expect(await admin.del(`sluice:v2:rules:{rules}:${id}`)).toBe(1);
  };
  await evict(3);
  const listed = await run('rules');
  expect([listed.code, listed.stdout]).toEqual([0, expect.stringMatching(/^3 +3 .* its text is gone$/m)]);
  expect(listed.stdout).toMatch(/^2 +2 +[\d :-]+ \\u\{1b\}\[2Jann$/m);
  expect((await run('rules', '--json')).values()).toMatchObject([
    { kept: false },
    { kept: true },
    { kept: true },
  ]);
  const diff = await run('diff', file);
  expect([diff.code, diff.stdout]).toEqual([2, expect.stringMatching(/The text of number 3 .* is gone/)]);
  const back = await run('rollback', '--yes');
  expect([back.code, back.stdout.split('\n').at(-2)]).toEqual([0, 'Pushed as number 4 (version 2).']);
  await evict(4);
  await evict(2);
  const rejected = await run('rollback', '2', '--yes');
  expect([rejected.code, rejected.stderr]).toEqual([
    1,
    expect.stringMatching(/number 2 .* is gone[\s\S]*Still there: 1\./),
  ]);
  const pushed = await run('push', file, '--yes');
  expect([pushed.code, pushed.stdout.split('\n').at(-2)]).toEqual([
    0,
    'Pushed as number 5 (version 3). Who runs it: sluice rules rules',
  ]);
});

test('explain names the plan that it uses, and accepts --plan', async () => {
  const store = redisStore(server.url);
  const rules = new Rules(
    `
plans: { pro: { n: 3 }, free: { n: 1 } }
defaultPlan: free
rules: [{ name: api, key: '#{user.id}', plan: '#{user.plan}', limit: { fixedWindow: { limit: $plan.n, window: 1h } } }]
`,
    { store, deadline: '10s' },
  );
  try {
    // The result must not depend on the plan of the last call.
    for (let i = 0; i < 2; i += 1) await rules.limiter('api', 'pro').consume('ann');
    await eventually(async () => (await readDefinitions(store))[0]?.limiters.length === 1);
    expect((await run('ls')).stdout).toMatch(
      /1 per 1 h \(fixedWindow\), plan free; others: pro +#\{user.id\}/,
    );
    const free = await run('explain', 'rules.api', 'ann');
    expect([free.code, free.stdout]).toEqual([
      1,
      expect.stringMatching(/^No: .*\n.*numbers of the plan 'free'\..* For another one: --plan pro\.\n$/s),
    ]);
    const pro = await run('explain', 'rules.api', 'ann', '--plan', 'pro', '--json');
    expect([pro.code, pro.values()]).toMatchObject([
      0,
      [{ plan: 'pro', allowed: true, policies: [{ remaining: 1 }] }],
    ]);
    const unknown = await run('explain', 'rules.api', 'ann', '--plan', 'team');
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('Known are: free, pro.')]);
  } finally {
    await rules.close();
    await store.close();
  }
});

test('override keeps the other numbers of the plan that --plan names, and guesses none', async () => {
  const store = redisStore(server.url);
  const rules = new Rules(
    `
plans: { pro: { n: 30 }, free: { n: 3 } }
defaultPlan: free
rules: [{ name: api, key: '#{user.id}', plan: '#{user.plan}', limit: { tokenBucket: { capacity: $plan.n, refill: $plan.n, every: 1h } } }]
`,
    { store, deadline: '10s' },
  );
  const override = (...args: string[]) =>
    run('override', 'ann', ...args, '--limiter', 'rules.api', '--for', '1h', '--yes', '--json');
  const bucket = (limit: number, perHour: number) => {
    const state = { view: { perSecond: expect.closeTo(perHour / 3_600, 5) } };
    return [{ done: true, after: { policies: [{ limit, state }] } }];
  };
  try {
    await rules.limiter('api', 'pro').consume('ann');
    await eventually(async () => (await readDefinitions(store))[0]?.limiters.length === 1);
    const guess = await override('capacity=50');
    expect([guess.code, guess.stdout, guess.stderr.replace(/\s+/g, ' ')]).toEqual([
      2,
      '',
      expect.stringContaining('add --plan with one of: free, pro.'),
    ]);
    expect((await override('capacity=50', '--plan', 'pro')).values()).toMatchObject(bucket(50, 30));
    expect((await override('capacity=50', 'refill=40')).values()).toMatchObject(bucket(50, 40));
  } finally {
    await rules.close();
    await store.close();
  }
});

test('explain uses the cost of a rule or plan, and notes a cost that depends on the request', async () => {
  const store = redisStore(server.url);
  const rules = new Rules(
    `
plans: { pro: { n: 2 }, free: { n: 4 } }
defaultPlan: free
rules:
  - { name: api, cost: 3, key: '#{user.id}', limit: { fixedWindow: { limit: 5, window: 1d } } }
  - { name: plans, cost: $plan.n, key: '#{user.id}', plan: '#{user.plan}', limit: { fixedWindow: { limit: 5, window: 1d } } }
  - { name: varies, cost: '#{query.n}', key: '#{user.id}', limit: { fixedWindow: { limit: 5, window: 1d } } }
`,
    { store, deadline: '10s' },
  );
  try {
    for (const name of ['api', 'plans', 'varies']) await rules.limiter(name).consume('ann', { cost: 3 });
    await eventually(async () => (await readDefinitions(store))[0]?.limiters.length === 3);
    const why = async (...args: string[]) => {
      const { code, stdout } = await run('explain', ...args);
      return [code, stdout.replace(/\s+/g, ' ')];
    };
    expect(await why('rules.api', 'ann')).toEqual([
      1,
      expect.stringMatching(/^No: .* denies a call for 3 permits/),
    ]);
    expect(await why('rules.api', 'ann', '--cost', '2')).toEqual([0, expect.stringMatching(/^Yes: /)]);
    expect(await why('rules.plans', 'ann')).toEqual([
      1,
      expect.stringMatching(/^No: .* a call for 4 permits/),
    ]);
    expect(await why('rules.plans', 'ann', '--plan', 'pro')).toEqual([
      0,
      expect.stringMatching(/^Yes: .* a call for 2 permits/),
    ]);
    expect(await why('rules.varies', 'ann')).toEqual([
      0,
      expect.stringMatching(/^Yes: .* a call for 1 permit .*depends on the request: --cost PERMITS/),
    ]);
  } finally {
    await rules.close();
    await store.close();
  }
});

test('push and diff reject a file with problems or failing tests, diff with another code than for differences', async () => {
  await write('rules: [{ name: api, limt: 5 }]');
  const wrong = await run('push', file, '--yes');
  expect([wrong.code, wrong.stdout]).toEqual([1, expect.stringContaining(`${file}:1:`)]);
  const compared = await run('diff', file);
  expect([compared.code, compared.stdout]).toEqual([2, wrong.stdout]);
  await write(text(1, 5, 'tests: [{ given: { path: /a, times: 6 }, expect: { denied: 2 } }]'));
  const failing = await run('push', file, '--yes');
  expect([failing.code, failing.stdout]).toEqual([
    1,
    expect.stringMatching(/expected denied 2; got allowed 5, denied 1/),
  ]);
  expect((await run('diff', file)).code).toBe(2);
  expect(await admin.dbsize()).toBe(0);
});

test('of two concurrent pushes one fails and overwrites nothing', async () => {
  await write(text(1, 1));
  await run('push', file, '--yes');
  const files = await Promise.all(
    [2, 3].map(async (version) => {
      const one = join(folder, `${version}.yaml`);
      await writeFile(one, text(version, version));
      return one;
    }),
  );
  const store = redisStore(server.url);
  const ended = await Promise.all(files.map((one) => run('push', one, '--yes')));
  const numbers = (await storedRules(store).versions()).map(({ number }) => number);
  const rejected = ended.filter(({ code }) => code !== 0);
  for (const { stderr } of rejected) expect(stderr).toMatch(/not version 1 any more; nothing was changed/);
  // One may have begun after the other had ended.
  expect(numbers).toEqual(rejected.length === 0 ? [3, 2, 1] : [2, 1]);
  await store.close();
});

test('a foreign value under the key causes an error of one sentence', async () => {
  await admin.lpush('sluice:v2:rules:{rules}', 'x');
  await write(text(1, 1));
  for (const args of [['diff', file], ['push', file, '--yes'], ['rules'], ['rollback', '--yes']]) {
    const { code, stderr } = await run(...args);
    expect([args[0], code, stderr]).toEqual([args[0], 2, expect.stringContaining('WRONGTYPE')]);
  }
});

test('the user of the page can push, but change no count', async () => {
  const page = await readFile(join(__dirname, '../../../docs/cli.md'), 'utf8');
  const rights = /^user deployer on >\S+ (.*)$/m.exec(page)![1]!.split(' ');
  await admin.call('ACL', 'SETUSER', 'deployer', 'reset', 'on', '>pw', ...rights);
  await admin.call('ACL', 'LOG', 'RESET');
  const login = { REDIS_URL: server.url, REDIS_USERNAME: 'deployer', REDIS_PASSWORD: 'pw' };
  for (const version of [1, 2]) {
    await write(text(version, version));
    const { code, stderr } = await sluice(['push', file, '--yes'], login);
    expect([code, stderr]).toEqual([0, '']);
  }
  expect((await sluice(['rollback', '--yes'], login)).code).toBe(0);
  expect((await sluice(['diff', file], login)).code).toBe(1);
  const refused = ((await admin.call('ACL', 'LOG')) as unknown[][]).map(
    (entry) => entry[entry.indexOf('object') + 1],
  );
  expect(refused.filter((object) => object !== 'client|setinfo')).toEqual([]);
  const reset = await sluice(['reset', 'ann', '--yes'], login);
  expect([reset.code, reset.stderr]).toEqual([2, expect.stringContaining('refuses a command to this user')]);
});
