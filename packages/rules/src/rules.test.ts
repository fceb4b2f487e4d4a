import { isKeyResolutionError, ManualClock, memoryStore, subscribe } from '@sluice/core';
import type { RequestView } from '@sluice/http';
import { isRulesError, parseRules, Rules, type RulesError } from './index.js';

const request = (given: Partial<RequestView> = {}): RequestView => ({
  ip: '203.0.113.7',
  user: undefined,
  method: 'GET',
  path: '/v1/a',
  params: {},
  query: {},
  body: undefined,
  headers: {},
  ...given,
});

const API = `
version: 41
name: shop
plans: { free: { perMinute: 2 }, pro: { perMinute: 4 } }
defaultPlan: free
rules:
  - name: api
    match: { method: [GET, POST], path: /v1/*, not: { path: /v1/health } }
    key: '#{user.id}'
    plan: '#{user.plan}'
    limits:
      perMinute: { tokenBucket: { capacity: $plan.perMinute, refill: $plan.perMinute, every: 1m } }
      perMonth: { fixedWindow: { limit: 100, window: 30d } }
    cost: '#{headers.x-cost}'
  - name: health
    match: { path: /v1/free/* }
    unlimited: true
  - name: partners
    match: { path: /v1/*, header: { x-partner: '*' } }
    replaces: [api]
    key: '#{headers.x-partner}'
    limit: { gcra: { limit: 3, period: 1m } }
  - name: api-next
    mode: shadow
    compare: api
    limit: { gcra: { limit: 1, period: 1m } }
  - name: sms
    limit: { fixedWindow: { limit: 1, window: 1m } }
`;

function rulesOf(text: string) {
  const clock = new ManualClock();
  const store = memoryStore({ clock });
  return { clock, store, rules: new Rules(parseRules(text), { store }) };
}

function errorOf(source: unknown): RulesError {
  try {
    parseRules(source as string, { file: 'limits.yaml' });
  } catch (error) {
    if (isRulesError(error)) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

describe('a document of rules', () => {
  test('all limits of a matching rule decide, with the numbers of the plan', async () => {
    const { rules, store } = rulesOf(API);
    const ann = request({ user: { id: 'ann', plan: 'pro' } });
    const answers = [];
    for (let i = 0; i < 5; i++) answers.push((await rules.decide(ann)).allowed);
    expect(answers).toEqual([true, true, true, true, false]);
    const denied = await rules.decide(ann);
    expect(denied.deniedBy?.name).toBe('api');
    expect(denied.decision?.policy).toBe('api.perMinute');
    expect(denied.decision?.policies.map(({ name }) => name)).toEqual(['api.perMinute', 'api.perMonth']);
    expect(denied.shadows.map(({ rule, decision }) => [rule.name, decision?.allowed])).toEqual([
      ['api-next', false],
    ]);
    await rules.close();
    await store.close();
  });

  test('an unknown or missing plan uses the numbers of defaultPlan', async () => {
    const { rules, store } = rulesOf(API);
    for (const user of [{ id: 'bob', plan: 'gold' }, { id: 'eve' }]) {
      const allowed = [];
      for (let i = 0; i < 3; i++) allowed.push((await rules.decide(request({ user }))).allowed);
      expect(allowed).toEqual([true, true, false]);
    }
    await rules.close();
    await store.close();
  });

  test('unlimited, replaces, not and cost select the matching rules and their cost', async () => {
    const { rules, store } = rulesOf(API);
    const names = (view: Partial<RequestView>) =>
      rules.ruleSet
        .match(request({ user: { id: 'ann' }, ...view }))
        .map(({ rule, cost }) => `${rule.name} ${cost}`);
    expect(names({})).toEqual(['api 1', 'api-next 1']);
    expect(names({ headers: { 'x-cost': '3' } })).toEqual(['api 3', 'api-next 3']);
    expect(names({ path: '/v1/health' })).toEqual([]);
    expect(names({ path: '/v1/free/x' })).toEqual([]);
    expect(names({ headers: { 'x-partner': 'acme' } })).toEqual(['partners 1']);
    expect(names({ method: 'DELETE' })).toEqual([]);
    expect(await rules.decide(request({ method: 'DELETE' }))).toMatchObject({
      allowed: true,
      decision: undefined,
    });
    await rules.close();
    await store.close();
  });

  test('a rule without a match is called by its name', async () => {
    const { rules, store } = rulesOf(API);
    expect((await rules.limiter('sms').consume('+49')).allowed).toBe(true);
    expect((await rules.limiter('sms').consume('+49')).allowed).toBe(false);
    expect(() => rules.limiter('smss')).toThrow('no rule "smss"; did you mean \'sms\'?');
    await rules.close();
    await store.close();
  });

  test('escalate blocks a key after repeated denials, longer each time', async () => {
    const { rules, store, clock } = rulesOf(`
rules:
  - name: login
    match: { method: POST, path: /login }
    limit: { fixedWindow: { limit: 1, window: 1s } }
    escalate: { after: 2, within: 1h, block: [1m, 10m] }
`);
    const login = request({ method: 'POST', path: '/login' });
    const tries = async (count: number) => {
      for (let i = 1; i < count; i++) await rules.decide(login);
      return (await rules.decide(login)).decision?.retryAfter;
    };
    expect(await tries(3)).toBe(60_000);
    await clock.advance('1m');
    expect(await tries(3)).toBe(600_000);
    await rules.close();
    await store.close();
  });

  test('cost and escalate use the numbers of the plan, also after replace', async () => {
    const text = (pro: number) => `
plans:
  free: { export: 5, tries: 1, block: 1h }
  pro: { export: ${pro}, tries: 2, block: 1m }
defaultPlan: free
rules:
  - name: export
    match: { path: /v1/* }
    key: '#{user.id}'
    plan: '#{user.plan}'
    limit: { fixedWindow: { limit: 10, window: 1s } }
    cost: $plan.export
    escalate: { after: $plan.tries, within: 1h, block: [$plan.block, 1d] }
`;
    const { rules, store } = rulesOf(text(3));
    const decide = async (id: string, plan: string) =>
      (await rules.decide(request({ user: { id, plan } }))).decision!;
    expect(await decide('ann', 'free')).toMatchObject({ allowed: true, remaining: 5, cost: 5 });
    expect(await decide('bob', 'pro')).toMatchObject({ allowed: true, remaining: 7, cost: 3 });
    await decide('ann', 'free');
    expect(await decide('ann', 'gone')).toMatchObject({ allowed: false, blockedFor: 3_600_000 });
    for (let i = 0; i < 2; i++) await decide('bob', 'pro');
    expect(await decide('bob', 'pro')).toMatchObject({ allowed: false, retryAfter: 1_000 });
    expect(await decide('bob', 'pro')).toMatchObject({ allowed: false, blockedFor: 60_000 });
    expect(rules.rule('export').cost(() => ({ plan: 'pro' }))).toBe(3);
    rules.replace(parseRules(text(2)));
    expect(await decide('eve', 'pro')).toMatchObject({ allowed: true, remaining: 8 });
    expect(await decide('ann', 'free')).toMatchObject({ allowed: false, blockedFor: 3_600_000 });
    await rules.close();
    await store.close();
  });

  test('notify reports the threshold of one of several limits', async () => {
    const { rules, store } = rulesOf(`
rules:
  - name: api
    match: { path: /* }
    limits:
      perMinute: { gcra: { limit: 60, period: 1m, burst: 20 } }
      perMonth: { fixedWindow: { limit: 4, window: 1 month }, notify: [50%, 100%] }
`);
    const reported: string[] = [];
    const stop = subscribe('sluice:threshold', ({ limiter, policy, threshold }) => {
      if (limiter === 'rules.api') reported.push(`${policy} ${threshold}`);
    });
    for (let i = 0; i < 4; i++) {
      await rules.decide(request());
      await new Promise((done) => setImmediate(done));
    }
    stop();
    expect(reported).toEqual(['perMonth 50%', 'perMonth 100%']);
    await rules.close();
    await store.close();
  });

  test('a missing key throws for an enforced rule; a shadow rule reports the error', async () => {
    const { rules, store } = rulesOf(`
plans: { small: { most: 1 }, large: { most: 2 } }
rules:
  - { name: api, match: { path: /v1/* }, plan: large, limit: { fixedWindow: { limit: $plan.most, window: 1m } } }
  - { name: next, mode: shadow, compare: api, key: "#{headers['x-key']}", limit: { gcra: { limit: 1, period: 1m } } }
  - { name: user, match: { path: /user }, key: USER, cost: '#{headers.cost}', limit: { gcra: { limit: 1, period: 1m } } }
`);
    const { allowed, decision, shadows } = await rules.decide(request());
    expect([allowed, decision?.limit, shadows[0]?.decision]).toEqual([true, 2, undefined]);
    expect(isKeyResolutionError(shadows[0]?.error)).toBe(true);
    const failing = (view: Partial<RequestView>) => async () =>
      rules.decide(request({ path: '/user', ...view }));
    await expect(failing({})()).rejects.toThrow('The server has no rate limit key');
    await expect(failing({ user: 'ann', headers: { cost: '-1' } })()).rejects.toMatchObject({
      code: 'SLUICE_KEY_RESOLUTION',
      status: 400,
      message: 'The request needs a whole number at headers.cost',
    });
    // As of ?n=3&n=4.
    for (const cost of [['3', '4'], { n: 3 }] as never[])
      await expect(failing({ user: 'ann', headers: { cost } })()).rejects.toMatchObject({ status: 400 });
    expect(
      (await rules.decide(request({ path: '/user', user: 'ann', headers: { cost: '0' } }))).allowed,
    ).toBe(true);
    await rules.close();
    await store.close();
    await expect(failing({ user: 'ann' })()).rejects.toThrow("Rules 'rules' were closed");
  });

  test('several requests are decided together, unless a rollout has them under different versions', async () => {
    const text = `
rules:
  - { name: user, match: { path: /user }, key: '#{query.user}', limit: { fixedWindow: { limit: 1, window: 1m } } }
`;
    const { rules, store } = rulesOf(text);
    const views = Array.from({ length: 20 }, (_, i) => ({
      view: request({ path: '/user', query: { user: `u${i}` } }),
    }));
    const without = { view: request({ path: '/user', query: {} }) };
    const joined = rules.matchAll([...views.slice(0, 2), without, views[0]!]);
    expect(joined?.members).toEqual([['user'], ['user#2'], undefined, ['user']]);
    expect(joined?.calls?.enforced).toMatchObject({
      keys: { user: 'u0', 'user#2': 'u1' },
      cost: { user: 2 },
    });
    rules.replace(parseRules(`${text}rollout: { percent: 50, by: key }`), rules.ruleSet);
    expect(rules.matchAll(views)).toBeUndefined();
    await rules.close();
    await store.close();
  });

  test('requests of one key with the numbers of two plans are not decided together', async () => {
    const { rules, store } = rulesOf(`
plans: { free: { n: 1 }, pro: { n: 5 } }
defaultPlan: free
rules:
  - name: user
    match: { path: /user }
    key: '#{query.user}'
    plan: '#{query.plan}'
    limit: { fixedWindow: { limit: $plan.n, window: 1m } }
`);
    const requestOf = (plan: string) => ({ view: request({ path: '/user', query: { user: 'ann', plan } }) });
    expect(rules.matchAll([requestOf('free'), requestOf('pro')])).toBeUndefined();
    expect(rules.matchAll([requestOf('pro'), requestOf('pro')])?.calls?.enforced).toMatchObject({
      cost: { user: 2 },
    });
    await rules.close();
    await store.close();
  });

  test("counts survive a change of a limit's numbers", async () => {
    const { rules, store } = rulesOf(API);
    await rules.limiter('sms').consume('+49');
    rules.replace(parseRules(API.replace('limit: 1, window: 1m', 'limit: 2, window: 1m')));
    expect((await rules.limiter('sms').consume('+49')).remaining).toBe(0);
    expect((await rules.limiter('sms').consume('+49')).allowed).toBe(false);
    await rules.close();
    await store.close();
  });

  test('all problems are reported together, with line, column and the nearest known word', () => {
    const { problems, message } = errorOf(`plans: { free: { perMinute: 60 } }
defaultPlan: fre
rules:
  - name: api
    match: { metod: GET, path: v1 }
    limit: { tokenBuket: { capacity: 1 } }
  - name: next
    match: { path: /v2/* }
    limits:
      perMinute: { gcra: { limit: -1, period: 1 fortnight } }
      perDay: { fixedWindow: { limit: $plan.perMinut, window: 1d } }
    replaces: [ap]
    mode: shadw
  - name: api
    match: { path: /v3/:id/*/:id }
    key: '#{usr.id}'
    limit: { fixedWindow: { window: 1d, limit: 5 } }
`);
    expect(problems.map(({ line, column, path, hint }) => [line, column, path, hint])).toMatchInlineSnapshot(`
[
  [
    2,
    14,
    "defaultPlan",
    "free",
  ],
  [
    5,
    14,
    "rules[0].match.metod",
    "method",
  ],
  [
    5,
    32,
    "rules[0].match.path",
    undefined,
  ],
  [
    6,
    14,
    "rules[0].limit.tokenBuket",
    "tokenBucket",
  ],
  [
    10,
    47,
    "rules[1].limits.perMinute.gcra.period",
    undefined,
  ],
  [
    11,
    39,
    "rules[1].limits.perDay.fixedWindow.limit",
    "perMinute",
  ],
  [
    12,
    16,
    "rules[1].replaces[0]",
    "api",
  ],
  [
    13,
    11,
    "rules[1].mode",
    "shadow",
  ],
  [
    14,
    11,
    "rules[2].name",
    undefined,
  ],
  [
    15,
    20,
    "rules[2].match.path",
    undefined,
  ],
  [
    16,
    10,
    "rules[2].key",
    "user",
  ],
]
`);
    expect(message).toMatchInlineSnapshot(`
"11 problems in limits.yaml:
limits.yaml:2:14: plan 'fre' is not in the document; did you mean 'free'?
limits.yaml:5:14: a match has no field "metod"; did you mean 'method'?
limits.yaml:5:32: path pattern "v1" must begin with '/'
limits.yaml:6:14: a limit has no field "tokenBuket"; did you mean 'tokenBucket'?
limits.yaml:10:47: period must be a duration such as 500ms, 1m, 1h, 1d, a number of milliseconds, or $plan.name, not "1 fortnight"
limits.yaml:11:39: plan 'free' has no number 'perMinut'; did you mean 'perMinute'?
limits.yaml:12:16: no rule is named 'ap'; did you mean 'api'?
limits.yaml:13:11: mode must be 'enforce' or 'shadow', not "shadw"; did you mean 'shadow'?
limits.yaml:14:11: rule 'api' exists already: two rules would count under the same keys
limits.yaml:15:20: path pattern "/v3/:id/*/:id" has one :name twice
limits.yaml:16:10: The key template "#{usr.id}" uses 'usr', which requests do not have; begin with one of ip, user, method, path, route, params, query, body, headers, cookies; did you mean 'user'?"
`);
  });

  test('problems of a document passed as an object have a path instead of a line', () => {
    const { problems } = errorOf({
      rules: [{ name: 'api', match: { path: '/*' }, limit: { gcra: { limit: 1 } } }],
    });
    expect(problems).toEqual([
      {
        message:
          "'period' is missing: it must be a duration such as 500ms, 1m, 1h, 1d, a number of milliseconds, or $plan.name",
        path: 'rules[0].limit.gcra',
        line: undefined,
        column: undefined,
        hint: undefined,
      },
    ]);
  });
});
