import { Redis } from 'ioredis';
import { fixedWindow, RateLimiter, redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { ONCALL_RULES } from './oncall-user.js';
import { sluice } from './sluice.js';
import { tailing } from './tailing.js';

let server: RedisServer;
let env: Record<string, string>;

beforeAll(async () => {
  server = await startRedis();
  env = { REDIS_URL: server.url };
});
afterAll(() => server.stop());

/** A process with two limiters. */
function service(options: object = {}) {
  const store = redisStore({ url: server.url, denials: true, ...options });
  const common = { store, deadline: '10s', denyCache: false } as const;
  const login = new RateLimiter({
    name: 'login',
    policies: { perHour: fixedWindow({ limit: 1, window: '1h' }) },
    ...common,
  });
  const api = new RateLimiter({ name: 'api', policy: fixedWindow({ limit: 1, window: '1h' }), ...common });
  const close = async () => {
    await Promise.all([login.close(), api.close()]);
    await store.close();
  };
  return { store, login, api, close };
}

test('tail starts before any process, prints a line per denial, and ends with Ctrl-C', async () => {
  const tail = await tailing([], env);
  const { login, api, close } = service();
  const call = async () => {
    await login.consume('ann@example.com');
    await api.consume('bob', { cost: 5, shadow: true });
  };
  await tail.until(call, () => tail.lines().length >= 4);
  expect(await tail.end('SIGINT')).toEqual([0, null]);
  expect(tail.said.stderr).toBe('');
  const wanted = {
    login:
      /^\d\d:\d\d:\d\d {2}login perHour {2}ann@example\.com {2}denied(?: ×\d+)? {2}passes at [\d: -]+, in (?:59 min|1 h)[ \w]* {2}cost 1 {2}\S+:\d+$/,
    api: /^\d\d:\d\d:\d\d {2}api {2}bob {2}would be denied(?: ×\d+)? {2}never passes {2}cost 5 {2}\S+:\d+$/,
  };
  for (const line of tail.lines()) expect(line).toMatch(line.includes('login') ? wanted.login : wanted.api);
  expect(tail.lines()[0]).toContain(`:${process.pid}`);
  await close();
}, 60_000);

test('tail prints a hostile key as one escaped, shortened line, or one JSON value', async () => {
  const { login, close } = service();
  const keys = ['a\nb\r\u001b[2J\u202e', 'k'.repeat(10_000), '\u0007'.repeat(40), 'x'.repeat(128)];
  const [tail, json] = await Promise.all([tailing([], env), tailing(['--json'], env)]);
  const call = async () => {
    for (const key of keys) await login.consume(key);
  };
  await tail.until(call, () => json.lines().length >= 8 && tail.lines().length >= 8);
  for (const one of [tail, json]) expect(await one.end('SIGTERM')).toEqual([0, null]);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there
  for (const line of tail.lines()) expect(line).not.toMatch(/[\u0000-\u001f\u007f\u202e]/);
  for (const line of tail.lines()) expect(line.length).toBeLessThan(250);
  expect(tail.said.stdout).toContain('  a\\u{a}b\\u{d}\\u{1b}[2J\\u{202e}  denied');
  expect(tail.said.stdout).toContain(`  ${'x'.repeat(79)}…  denied`);
  const values = json.lines().map((line) => JSON.parse(line));
  expect(new Set(values.map(({ key }) => key))).toEqual(
    new Set([keys[0], expect.stringMatching(/^%sha256-/), keys[2], keys[3]]),
  );
  expect(values[0]).toMatchObject({
    limiter: 'login',
    policy: 'perHour',
    cost: 1,
    mode: 'enforce',
    source: 'redis',
    degraded: false,
    pid: process.pid,
  });
  const { at, retryAfter } = values[0];
  expect(Math.abs(at / 1_000 - Date.now())).toBeLessThan(60_000);
  expect(retryAfter).toBeGreaterThan(3_000_000_000);
  await close();
}, 60_000);

test('tail filters by limiter and key, also hashed keys, and ends after --count lines', async () => {
  const { login, api, close } = service({ usage: { keys: 'hash' } });
  const ofApi = await tailing(['api', '--key', 'bob', '--count', '2', '--json'], env);
  const noise = async () => {
    for (const key of ['ann', 'bob']) await Promise.all([login.consume(key), api.consume(key)]);
  };
  await ofApi.until(noise, () => ofApi.lines().length >= 2);
  expect(await ofApi.end()).toEqual([0, null]);
  const values = ofApi.lines().map((line) => JSON.parse(line));
  expect(values).toHaveLength(2);
  for (const one of values) expect(one).toMatchObject({ limiter: 'api', key: expect.stringMatching(/^#/) });
  await close();
}, 60_000);

test('tail counts denials of keys that a report omits', async () => {
  const { login, close } = service();
  const tail = await tailing([], env);
  const flood = () => Promise.all(Array.from({ length: 400 }, (_, i) => login.consume(`flood-${i}`)));
  await tail.until(flood, () => tail.said.stdout.includes('more denial'));
  await tail.end('SIGINT');
  expect(tail.said.stdout).toMatch(/^… and \d+ more denials? from \S+:\d+$/m);
  await close();
}, 60_000);

test('tail notes that a limiter is unknown', async () => {
  const { login, close } = service();
  const known = () => sluice(['ls', '--json'], env);
  await eventually(async () => {
    await login.consume('ann');
    return (await known()).stdout.includes('"name":"login"');
  });
  const { code, stdout, stderr } = await sluice(['tail', 'logn', '--for', '100ms'], env);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toMatch(
    /^sluice: No process has published a limiter 'logn'\. Known are: .*\blogin\b.*\.\n$/,
  );
  await close();
}, 60_000);

test('--for ends tail with 0 after a denial and with 1 without one; invalid options exit with 2', async () => {
  expect(await sluice(['tail', '--for', '300ms'], env)).toEqual(
    expect.objectContaining({ code: 1, stdout: '', stderr: '' }),
  );
  for (const wrong of [
    ['--count', '0'],
    ['--for', 'soon'],
  ])
    expect((await sluice(['tail', ...wrong], env)).code).toBe(2);
}, 60_000);

test.each([
  ['restarted', (own: RedisServer) => own.kill(), (own: RedisServer) => own.restart()],
  ['frozen', (own: RedisServer) => own.freeze(), (own: RedisServer) => own.thaw()],
])(
  'tail continues after Redis was %s, and notes missing denials',
  async (_, out, back) => {
    const own = await startRedis();
    const store = redisStore({ url: own.url, denials: true });
    const api = new RateLimiter({
      name: 'api',
      policy: fixedWindow({ limit: 1, window: '1h' }),
      store,
      deadline: '10s',
      failurePolicy: 'allow',
    });
    const call = () => api.consume('ann');
    const tail = await tailing(['--json', '--deadline', '500ms'], { REDIS_URL: own.url });
    try {
      store.on('degraded', () => {});
      await tail.until(call);
      await out(own);
      await tail.until(
        async () => {},
        () => tail.said.stderr !== '',
      );
      await back(own);
      const before = tail.lines().length;
      await tail.until(call, () => tail.lines().length > before);
      expect(tail.said.stderr).toMatch(
        /^sluice: \S+ does not answer\. Trying again\.\nsluice: \S+ answers again\./,
      );
      expect(await tail.end('SIGINT')).toEqual([0, null]);
    } finally {
      await tail.end('SIGKILL');
      await api.close();
      await store.close();
      await own.stop();
    }
  },
  60_000,
);

test('tail works with the rights of docs/cli.md, and fails without the right to the channel', async () => {
  const admin = new Redis(server.url);
  const { login, close } = service();
  try {
    await admin.call('ACL', 'SETUSER', 'reader', 'reset', 'on', '>pw', ...ONCALL_RULES);
    await admin.call('ACL', 'LOG', 'RESET');
    const user = { ...env, REDIS_USERNAME: 'reader', REDIS_PASSWORD: 'pw' };
    const tail = await tailing(['--count', '1'], user);
    await tail.until(() => login.consume('ann'));
    expect([await tail.end(), tail.said.stderr]).toEqual([[0, null], '']);
    const refused = ((await admin.call('ACL', 'LOG')) as unknown[][]).map(
      (entry) => entry[entry.indexOf('object') + 1],
    );
    expect(refused.filter((object) => object !== 'client|setinfo')).toEqual([]);
    await admin.call('ACL', 'SETUSER', 'reader', 'resetchannels');
    const { code, stderr } = await sluice(['tail'], user);
    expect([code, stderr]).toEqual([2, expect.stringContaining('refuses a command to this user')]);
  } finally {
    admin.disconnect();
    await close();
  }
}, 60_000);
