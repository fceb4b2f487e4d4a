import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { parseRules } from '../parse-rules.js';
import { type SimulateOptions, simulate } from './index.js';
import { SmallestSearch } from './smallest-search.js';

const START = Date.parse('2026-11-22T12:00:00Z');

/** A JSON line: seconds after the start, the path, the user's name. */
const line = (second: number, url: string, user?: string, more: object = {}) =>
  JSON.stringify({
    time: new Date(START + second * 1000),
    method: 'GET',
    url,
    ip: '10.0.0.1',
    user,
    ...more,
  });

const run = (rules: string, lines: readonly string[], options: SimulateOptions = {}) =>
  simulate(parseRules(rules), Readable.from([lines.join('\n')]), options);

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

const API = `
rules:
  - name: api
    match: { path: /v1/* }
    key: '#{user.id}'
    limits:
      perMinute: { fixedWindow: { limit: 3, window: 1m } }
      perHour: { fixedWindow: { limit: 8, window: 1h } }
  - name: health
    match: { path: /v1/health }
    unlimited: true
  - name: sms
    limit: { fixedWindow: { limit: 1, window: 1m } }
`;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-simulate-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function logFile(name: string, lines: readonly string[]): string {
  const file = join(folder, name);
  writeFileSync(file, name.endsWith('.gz') ? gzipSync(lines.join('\n')) : lines.join('\n'));
  return file;
}

describe('a replay', () => {
  test('counts requests, denials, keys and use for each rule and limit', async () => {
    // ann: 5 a minute for 3 minutes: 3 pass in each of the first two, then 2 until the hour's 8 are used up.
    const ann = times(3, (minute) => times(5, (i) => line(minute * 60 + i, '/v1/a', 'ann'))).flat();
    const others = [line(10, '/v1/b', 'bob'), line(11, '/v1/health'), line(12, '/other'), line(13, '/v1/c')];
    const { log, rules } = await run(API, [...ann, ...others]);
    expect(log).toMatchObject({ lines: 19, requests: 19, bad: 0, from: START, to: START + 124_000 });
    expect(rules).toMatchObject({ requests: 19, denied: 7, rulesForCode: ['sms'], storeFull: false });
    const [api] = rules.rules;
    expect(rules.rules).toHaveLength(1);
    expect(api).toMatchObject({
      ...{ rule: 'api', requests: 16, denied: 7, keys: 2, moreKeys: false },
      hit: [{ key: 'ann', requests: 7, error: 0 }],
      limits: [
        { limit: 'api.perMinute', requests: 16, denied: 4, keys: 2 },
        { limit: 'api.perHour', requests: 16, denied: 3, keys: 2, use: { p50: 0.125, max: 1 } },
      ],
      unresolved: { requests: 1, example: { line: 19, reason: expect.stringContaining('user.id') } },
    });
    expect(rules.unlimited).toBe(3);
    const { overTime } = api!;
    expect(overTime.requests.reduce((sum, one) => sum + one, 0)).toBe(16);
    expect(overTime.denied.reduce((sum, one) => sum + one, 0)).toBe(7);
  });

  test('applies plans, costs, params and shadow rules', async () => {
    const rules = `
plans: { free: { n: 1 }, pro: { n: 3 } }
defaultPlan: free
rules:
  - name: api
    match: { path: '/v1/:tenant/*' }
    key: '#{params.tenant}'
    plan: '#{user.plan}'
    cost: '#{query.cost}'
    limit: { fixedWindow: { limit: $plan.n, window: 1m } }
  - name: next
    mode: shadow
    compare: api
    limit: { fixedWindow: { limit: 2, window: 1m } }
`;
    const pro = { user: { plan: 'pro' } };
    const { rules: found } = await run(rules, [
      ...times(4, (i) => line(i, '/v1/acme/x', undefined, pro)),
      ...times(2, (i) => line(10 + i, '/v1/tiny/x')),
      line(20, '/v1/big/x?cost=3', undefined, pro),
    ]);
    const [api, next] = found.rules;
    expect(found.denied).toBe(2);
    expect(api!.limits.map(({ limit, plan, requests, denied }) => [limit, plan, requests, denied])).toEqual([
      ['api', 'pro', 5, 1],
      ['api', 'free', 2, 1],
    ]);
    expect(next).toMatchObject({ mode: 'shadow', compare: 'api', requests: 7, denied: 3 });
    expect(next!.hit.map(({ key }) => key)).toEqual(['acme', 'big']);
  });

  test('holds a concurrency permit for the whole duration of its request', async () => {
    const rules = `
rules:
  - name: slow
    match: { path: /* }
    limit: { concurrency: { limit: 1, lease: 1s } }
`;
    // The log has the moments at which requests ended: the first one lasts from 0 to 100 s.
    const timed = (end: number, ms: number) => line(end, '/', undefined, { responseTime: ms });
    const lines = [timed(50, 1_000), timed(100, 100_000), timed(101, 500), timed(101.2, 100)];
    const { rules: found, log } = await run(rules, lines, { sortWithin: '5m' });
    expect(found.rules[0]).toMatchObject({ requests: 4, denied: 1 });
    expect(log).toMatchObject({ durations: true, late: 0 });
  });

  test('sorts lines that are out of order, and counts those that arrive too late', async () => {
    const rules = `
rules:
  - name: all
    match: { path: /* }
    limit: { fixedWindow: { limit: 1, window: 10s } }
`;
    const { rules: found, log } = await run(
      rules,
      [5, 3, 16, 40, 1].map((second) => line(second, '/')),
    );
    // 3 passes, 5 is denied, 16 and 40 pass; 1 arrives after 5 was decided.
    expect(found.rules[0]).toMatchObject({ requests: 5, denied: 2 });
    expect(log.late).toBe(1);
  });

  test('reports each assumption about what the log lacks', async () => {
    const text = `
plans: { free: {}, pro: {} }
defaultPlan: free
rules:
  - name: api
    match: { path: /v1/*, plan: free }
    key: [USER, "#{headers['x-device']}", IP]
    plan: '#{user.plan}'
    timeout: 2s
    limit: { fixedWindow: { limit: 2, window: 1m } }
  - name: login
    match: { path: /login, not: { user: { role: admin } } }
    skipSuccessfulRequests: true
    limit: { fixedWindow: { limit: 1, window: 1m } }
`;
    const assumed = async (lines: readonly string[]) =>
      (await run(text, lines)).rules.rules.map(({ assumed }) => assumed);
    expect(await assumed([line(0, '/v1/a'), line(1, '/login')])).toEqual([
      [
        "no line of the log has #{user.id}, #{headers['x-device']}, #{user.plan}, so every request was decided as one without it",
        'requests do not wait in a replay: they were denied at once',
      ],
      [
        'no line of the log has #{user.role}, so every request was decided as one without it',
        'no line of the log has a status, so no permits were given back',
      ],
    ]);
    const known = await assumed([line(0, '/v1/a', 'ann', { status: 200 })]);
    expect(known[0]![0]).toMatch("has #{headers['x-device']}, #{user.plan}, so");
    expect(known[1]).toHaveLength(1);
  });

  test('refunds permits by the status in the log', async () => {
    const text = `
rules:
  - name: login
    match: { path: /login }
    skipSuccessfulRequests: true
    limit: { fixedWindow: { limit: 1, window: 1h } }
  - name: api
    match: { path: /* }
    limit: { fixedWindow: { limit: 9, window: 1h } }
`;
    const loginsWith = (status: number) => times(3, (i) => line(i, '/login', undefined, { status }));
    expect((await run(text, loginsWith(200))).rules.denied).toBe(0);
    expect((await run(text, loginsWith(401))).rules.denied).toBe(2);
    const log = logFile('statuses.log', [...loginsWith(200), ...loginsWith(200).slice(1)]);
    const { rules } = await simulate(parseRules(text), log, { target: 0 });
    expect(rules.rules.map(({ limits }) => limits[0]!.smallest!.limit)).toEqual([1, 5]);
  });

  test('against other rules, reports the newly denied and newly allowed requests and keys', async () => {
    const rules = (limit: number, other: number) => `
rules:
  - name: a
    match: { path: /a }
    limit: { fixedWindow: { limit: ${limit}, window: 1m } }
  - name: b
    match: { path: /b }
    key: '#{query.k}'
    limit: { fixedWindow: { limit: ${other}, window: 1m } }
`;
    const lines = [...times(5, (i) => line(i, '/a')), ...times(5, (i) => line(10 + i, '/b?k=x'))];
    const found = await run(rules(2, 4), lines, { against: parseRules(rules(3, 1), { file: 'old.yaml' }) });
    expect(found.rules).toMatchObject({ requests: 10, denied: 4 });
    expect(found.against).toMatchObject({ name: 'old.yaml', requests: 10, denied: 6 });
    expect(found.newlyDenied).toEqual({
      requests: 1,
      keys: [{ rule: 'a', key: '10.0.0.1', requests: 1, error: 0 }],
    });
    expect(found.newlyAllowed).toEqual({
      requests: 3,
      keys: [{ rule: 'b', key: 'x', requests: 3, error: 0 }],
    });
  });

  test('reports that it dropped keys beyond maxKeys', async () => {
    const lines = times(50, (i) => line(i, '/v1/a', `user-${i}`));
    const { rules } = await run(API, lines, { maxKeys: 10 });
    expect(rules.rules[0]).toMatchObject({ requests: 50, keys: 10, moreKeys: true });
    expect(rules.storeFull).toBe(true);
  });

  test('reads compressed and several files, and reports a truncated file', async () => {
    const whole = logFile(
      'a.log.gz',
      times(500, (i) => line(i, '/v1/a', `user-${(i * 7919) % 1000}`)),
    );
    const plain = logFile('b.log', [line(600, '/v1/a', 'bob')]);
    const rules = parseRules(API);
    const { log } = await simulate(rules, [whole, plain]);
    expect(log).toMatchObject({ requests: 501, bad: 0, files: [{ name: 'a.log.gz' }, { name: 'b.log' }] });
    const { readFileSync } = await import('node:fs');
    const cut = join(folder, 'cut.gz');
    writeFileSync(cut, readFileSync(whole).subarray(0, -400));
    const found = await simulate(rules, cut);
    expect(found.log.files[0]!.damage).toContain('unexpected end of file');
    expect(found.log.requests).toBeLessThan(500);
    await expect(simulate(rules, join(folder, 'none.log'))).rejects.toThrow('ENOENT');
  });
});

describe('the smallest limit', () => {
  const rules = (limit: string) => `
rules:
  - name: all
    match: { path: /* }
    key: '#{user.id}'
    limit: { ${limit} }
`;
  /** Thirty users; the n-th sends n requests in one second of each of two minutes. */
  const lines = times(2, (minute) =>
    times(30, (user) => times(user + 1, () => line(minute * 120 + user / 30, '/', `user-${user}`))).flat(),
  ).flat();

  test.each([
    ['fixedWindow: { limit: 5, window: 1m }', 0, 30],
    // 2 × Σ (n - L) for n from L + 1 to 30, of 930 requests: L = 26 denies 20 of them, 27 denies 12.
    ['fixedWindow: { limit: 5, window: 1m }', 0.02, 27],
  ])('of %s that denies at most a share of %d is %d', async (limit, target, expected) => {
    const file = logFile('target.log', lines);
    const found = await simulate(parseRules(rules(limit)), file, { target, sortWithin: '5m' });
    const { smallest } = found.rules.rules[0]!.limits[0]!;
    expect(smallest).toMatchObject({ target, limit: expected, exact: true });
    expect(smallest!.denied).toBeLessThanOrEqual(target * lines.length);
    // By definition: the replay of a document with this number, and with one less.
    const deniedBy = async (n: number) => {
      const changed = limit
        .replace(/(limit|capacity): \d+/, `$1: ${n}`)
        .replace(/refill: \d+/, `refill: ${n}`);
      return (await simulate(parseRules(rules(changed)), file, { sortWithin: '5m' })).rules.denied;
    };
    expect(await deniedBy(expected)).toBe(smallest!.denied);
    expect(await deniedBy(expected - 1)).toBeGreaterThan(target * lines.length);
  });

  test('is not exact with costs above 1: a far smaller limit may deny equally few', async () => {
    const priced = (n: number) =>
      parseRules(`${rules(`fixedWindow: { limit: ${n}, window: 1m }`)}    cost: '#{query.c}'\n`);
    // With 200, the first call costs too much and two others pass. With 201 to 300 only the first passes.
    const file = logFile(
      'costs.log',
      [201, 100, 100, 100].map((cost, i) => line(i, `/?c=${cost}`, 'ann')),
    );
    const { rules: found } = await simulate(priced(301), file, { target: 0.5 });
    expect(found.rules[0]!.limits[0]!.smallest).toMatchObject({ limit: 301, denied: 2, exact: false });
    const deniedBy = async (n: number) => (await simulate(priced(n), file)).rules.denied;
    expect(await Promise.all([199, 200, 201, 300, 301].map(deniedBy))).toEqual([3, 2, 3, 3, 2]);
  });

  test('is undefined if no valid limit is large enough', () => {
    const search = new SmallestSearch(5, 0);
    for (let pass = 0; search.candidates.length > 0; pass += 1) {
      expect(pass).toBeLessThan(10);
      for (const limit of search.candidates) {
        if (limit > 1_000) search.refused(limit);
        else search.tried(limit, 1);
      }
      search.next();
    }
    expect(search.best).toBeUndefined();
  });

  test('needs log files, and a target share below 1', async () => {
    await expect(run(rules('gcra: { limit: 1, period: 1m }'), [], { target: 0.1 })).rejects.toThrow(
      'to a file',
    );
    await expect(simulate(parseRules(API), 'x', { target: 1 })).rejects.toThrow('share from 0 to below 1');
  });
});
