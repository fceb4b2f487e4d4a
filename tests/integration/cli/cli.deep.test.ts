import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDefinitions } from '@sluice/fleet';
import { Redis } from 'ioredis';
import { fixedWindow, LimiterFactory, RateLimiter, redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { HOSTILE, service } from './fleet-process.js';
import { ONCALL_RULES } from './oncall-user.js';
import { sluice, start } from './sluice.js';

let server: RedisServer;
let admin: Redis;
let store: ReturnType<typeof redisStore>;
let env: Record<string, string>;
let limiters: Awaited<ReturnType<typeof service>>;

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  store = redisStore({ url: server.url, usage: { keys: 'plain', keyUse: true } });
  env = { REDIS_URL: server.url };
  limiters = await service(store);
});
afterAll(async () => {
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  admin.disconnect();
  await server.stop();
});

const page = readFileSync(join(__dirname, '../../../docs/cli.md'), 'utf8');
const lines = (text: string) => text.trimEnd().split('\n');

describe('commands that read', () => {
  test('ls lists limiters, policies and processes', async () => {
    const { code, stdout, stderr } = await sluice(['ls'], env);
    expect([code, stderr]).toEqual([0, '']);
    expect(lines(stdout)).toEqual([
      'LIMITER  POLICY                                           KEY  PROCESSES',
      'api      10 at once, 1 more every 1 h (tokenBucket)            1',
      'jobs     2 at the same time, leases of 1 h (concurrency)       1',
      'login    perMinute: 5 per 1 h (fixedWindow)                    1',
      '         perDay: 50 per 1 d (fixedWindow)',
    ]);
    const { stdout: processes } = await sluice(['ls', '--processes'], env);
    expect(processes).toMatch(new RegExp(`:${process.pid} +\\d+\\.\\d+\\.\\d+ +3 +`));
  });

  test('inspect finds a key under every limiter', async () => {
    const { code, stdout } = await sluice(['inspect', 'ann'], env);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^login, perMinute {2}5 per 1 h \(fixedWindow\)\n {2}5 of 5 used in the window/m);
    expect(stdout).toMatch(/^login, perDay {2}50 per 1 d \(fixedWindow\)\n {2}5 of 50 used/m);
    expect(stdout).toMatch(/^api {2}.*\n {2}7.* of 10 in the bucket, full at /m);
    expect(stdout).not.toContain('jobs');
    expect((await sluice(['inspect', 'bob'], env)).stdout).toMatch(
      /Blocked: no call passes before it ends at /,
    );
    expect((await sluice(['inspect', 'carl'], env)).stdout).toMatch(/Held: 1 permit, its lease ends at /);
  });

  test('inspect exits with 1 for a key that no limiter has', async () => {
    const { code, stdout } = await sluice(['inspect', 'zoe'], env);
    expect([code, stdout]).toEqual([
      1,
      expect.stringContaining("None of the 3 known limiters knows the key 'zoe'"),
    ]);
  });

  test('explain prints whether a call passes, the reason and the time', async () => {
    const no = await sluice(['explain', 'login', 'ann'], env);
    expect(no.code).toBe(1);
    expect(no.stdout).toMatch(
      /^No: limiter 'login' denies a call for 1 permit of 'ann' until [\d :-]+, in (?:5\d min|1 h)/,
    );
    expect(no.stdout).toMatch(/perMinute, 5 per 1 h \(fixedWindow\), denies it: 5 of 5 used/);
    const yes = await sluice(['explain', 'api', 'ann', '--cost', '7'], env);
    expect([yes.code, yes.stdout]).toEqual([
      0,
      expect.stringMatching(/^Yes: .*\n {2}api: 7 of 10 permits left/),
    ]);
    const never = await sluice(['explain', 'api', 'ann', '--cost', '11'], env);
    expect([never.code, never.stdout]).toEqual([
      1,
      expect.stringMatching(/would never let[\s\S]*more than the 10 it ever has/),
    ]);
    const blocked = await sluice(['explain', 'api', 'bob'], env);
    expect(blocked.stdout).toMatch(/the key is blocked; the block ends at /);
  });

  test('--json prints one value per line', async () => {
    expect((await sluice(['ls', '--json'], env)).values()).toMatchObject([
      { name: 'api' },
      { name: 'jobs' },
      { name: 'login' },
    ]);
    const inspected = (await sluice(['inspect', 'ann', '--json'], env)).values();
    expect(inspected).toMatchObject([
      {
        limiter: 'api',
        key: 'ann',
        known: true,
        allowed: true,
        policies: [{ remaining: 7, state: { view: { kind: 'bucket' } } }],
      },
      { limiter: 'login', known: true, allowed: false, policies: [{ remaining: 0 }, { remaining: 45 }] },
    ]);
    expect((await sluice(['explain', 'api', 'bob', '--json'], env)).values()).toMatchObject([
      { allowed: false },
    ]);
  });

  test('a hostile key prints no control characters', async () => {
    const { code, stdout } = await sluice(['inspect', HOSTILE, '--limiter', 'api'], env);
    expect(code).toBe(0);
    const { stdout: unknown } = await sluice(['inspect', `${HOSTILE}!`], env);
    expect(unknown).toContain('x\\u{1b}[2J\\u{202e}<script>!');
    for (const text of [stdout, unknown]) expect(text).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u);
  });

  test('no line is longer than 40 columns on such a terminal', async () => {
    for (const args of [['ls'], ['inspect', 'ann'], ['explain', 'login', 'ann'], ['stats']]) {
      const { stdout } = await sluice(args, { ...env, COLUMNS: '40' });
      expect(lines(stdout).filter((line) => line.length > 40)).toEqual([]);
    }
  });

  test('top and stats show the counts of processes', async () => {
    await store.usage!.publish();
    const top = await sluice(['top', '--json'], env);
    expect(top.values()).toEqual([{ limiter: 'login', key: 'ann', policy: 'perMinute', count: 1, error: 0 }]);
    expect((await sluice(['top', '--cost'], env)).stdout).toMatch(/^login +ann +5$/m);
    expect(await sluice(['top', '--shadow'], env)).toMatchObject({
      code: 1,
      stdout: 'No key is in the list.\n',
    });
    expect((await sluice(['top', '--shadow', '--cost'], env)).code).toBe(2);
    expect((await sluice(['stats', '--last', '15m'], env)).stdout).toMatch(/^LIMITER +ALLOWED\/S +DENIED\/S/);
    const stats = await sluice(['stats', '--last', '15m'], env);
    expect(stats.stdout).toMatch(
      /^LIMIT +KEYS +USE P50 +P90 +P99 +MAX\n(.*\n)*login perMinute +1 +100 % +100 % +100 % +100 %$/m,
    );
    const [login] = (await sluice(['stats', '--json'], env))
      .values()
      .filter((one) => (one as { limiter: string }).limiter === 'login');
    expect(login).toMatchObject({ keyUse: { keys: 1, error: 0, policies: [{ policy: 'perMinute' }, {}] } });
  });

  test('top prints keys in the form that other commands accept', async () => {
    const keys = [HOSTILE, '日本語 %41', '-n'];
    for (const key of keys) await limiters.api.consume(key, { cost: 11 });
    await store.usage!.publish();
    const listed = (await sluice(['top', '--limiter', 'api', '--json'], env)).values() as { key: string }[];
    expect(listed.map(({ key }) => key).sort()).toEqual([...keys].sort());
    const { stdout } = await sluice(['top', '--limiter', 'api'], env);
    expect(stdout).toMatch(/^api +日本語 %41 +1$/m);
    expect(stdout).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u);
    expect(await sluice(['explain', 'api', '--', '-n'], env)).toMatchObject({ code: 0, stderr: '' });
    const long = await sluice(['explain', 'api', 'k'.repeat(10_000)], env);
    expect(long.stdout.length).toBeLessThan(300);
    for (const key of keys) await limiters.api.reset(key);
  });
});

describe('commands that write', () => {
  test('change nothing without a terminal and without --yes', async () => {
    const { code, stdout, stderr } = await sluice(['unblock', 'bob'], env);
    expect(code).toBe(2);
    expect(stdout).toContain('Blocked: no call passes');
    expect(stderr).toContain('Add --yes if you are sure.');
    expect((await limiters.api.peek('bob')).allowed).toBe(false);
  });

  test('block and unblock a key, and print its state before', async () => {
    const { api } = limiters;
    const blocked = await sluice(['block', 'dan', '--limiter', 'api', '--for', '1h', '--yes'], env);
    expect([blocked.code, blocked.stderr]).toEqual([0, '']);
    expect(blocked.stdout).toMatch(
      /^api\n {2}10 of 10: the bucket is full\.\n'dan' is blocked at 'api'\. Now:\n/,
    );
    expect((await api.peek('dan')).allowed).toBe(false);
    const unblocked = await sluice(['unblock', 'dan', '--yes', '--json'], env);
    expect(unblocked.values()).toMatchObject([
      { limiter: 'api', key: 'dan', done: true, before: { allowed: false }, after: { allowed: true } },
    ]);
    expect((await api.peek('dan')).allowed).toBe(true);
    expect(await sluice(['unblock', 'dan', '--yes'], env)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('No known limiter blocks'),
    });
  });

  test('unblock names the remedy if the key has also used up its limit', async () => {
    const { api } = limiters;
    await api.consume('fay', { cost: 10 });
    await api.block('fay', '1h');
    const { stdout } = await sluice(['unblock', 'fay', '--yes'], env);
    expect(stdout).toMatch(/Calls are still denied, .*: sluice reset KEY\.\n$/);
    await sluice(['reset', 'fay', '--limiter', 'api', '--yes'], env);
    await api.block('fay', '1h');
    expect((await sluice(['unblock', 'fay', '--yes'], env)).stdout).not.toContain('still denied');
  });

  test('override, reward, penalty and reset change the permits of a key', async () => {
    const { login } = limiters;
    await login.consume('eve');
    const run = async (...args: string[]) => {
      const { code, stderr } = await sluice([...args, '--yes'], env);
      expect([code, stderr]).toEqual([0, '']);
      return (await login.peek('eve')).policies.map(({ remaining }) => remaining);
    };
    const at = ['--limiter', 'login'];
    expect(await run('override', 'eve', 'limit=9', '--policy', 'perMinute', '--for', '1h', ...at)).toEqual([
      8, 49,
    ]);
    expect(await run('override', 'eve', '--remove')).toEqual([4, 49]);
    expect(await run('penalty', 'eve', '2', ...at)).toEqual([2, 47]);
    expect(await run('reward', 'eve', '1', ...at)).toEqual([3, 48]);
    expect(await run('reset', 'eve')).toEqual([5, 50]);
  });

  test.each([
    [['block', 'dan', '--for', '1h'], 'Add --limiter with one of: api, jobs, login.'],
    [['block', 'dan', '--limiter', 'api'], '--for is missing. Say for how long'],
    [['block', 'dan', '--limiter', 'api', '--for', 'soon'], '--for must be a duration'],
    [
      ['override', 'dan', 'limit=1', '--limiter', 'api', '--for', '1h'],
      'Its numbers are: capacity, refill, every.',
    ],
    [
      ['override', 'dan', 'limit=1', '--limiter', 'login', '--for', '1h'],
      'Add --policy with one of: perMinute, perDay.',
    ],
    [['override', 'dan', 'capacity=-1', '--limiter', 'api', '--for', '1h', '--yes'], 'capacity'],
    [['penalty', 'dan', 'many', '--limiter', 'api'], 'must be a whole number of at least 1'],
    [['penalty', 'dan', '1', '--limiter', 'jobs', '--yes'], 'the permits of concurrency are held'],
    [['explain', 'login', 'ann', '--cost', '-1'], 'whole number of at least 0'],
    [['frob'], "unknown command 'frob'"],
    [['inspect'], "missing required argument 'key' For example: sluice inspect 203.0.113.7"],
    [['ls', '--host', 'redis.local'], "unknown option '--host': give --redis redis://"],
    [['--port', '6379', 'ls'], "unknown option '--port': give --redis redis://"],
    [['ls', '-a', 'secret'], "unknown option '-a': give it in REDIS_PASSWORD"],
    [['simulate', '--rules', 'limits.yaml'], 'simulate needs --rules and a log.'],
    [['ls', '--deadline', '0'], '--deadline must be a duration'],
    [['ls', '--redis', 'http://127.0.0.1'], 'must begin with redis://'],
    [['ls', '--cluster', '/tmp/x'], '--cluster takes host:port'],
    [['ls', '--sentinel', '127.0.0.1'], 'Add --name'],
    [['ls', '--cluster', '127.0.0.1', '--redis', 'redis://127.0.0.1'], 'Give one of --redis and --cluster'],
  ])('reject %j with one sentence', async (args, sentence) => {
    const { code, stderr } = await sluice(args, { ...env, COLUMNS: '1000' });
    expect([code, stderr.replace(/\s+/g, ' ')]).toEqual([2, expect.stringContaining(sentence)]);
    expect(stderr).not.toMatch(/^\s+at /m);
  });
});

describe('a broken server', () => {
  test('without Redis exits with 2 and the reason, without the password', async () => {
    const port = await freePort();
    const { code, stderr } = await sluice(['ls'], { REDIS_URL: `redis://user:secret@127.0.0.1:${port}` });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/does not answer: .*ECONNREFUSED/)]);
    expect(stderr).not.toContain('secret');
  });

  test('refuses a wrong password, and accepts one in the environment', async () => {
    const secured = await startRedis({ args: ['--requirepass', 'right'] });
    try {
      for (const url of [secured.url, secured.url.replace('//', '//:wrong@')]) {
        const { code, stderr } = await sluice(['ls'], { REDIS_URL: url });
        expect([code, stderr]).toEqual([2, expect.stringContaining('refuses the login')]);
        expect(stderr).not.toContain('wrong@');
      }
      const { code, stdout } = await sluice(['ls'], { REDIS_URL: secured.url, REDIS_PASSWORD: 'right' });
      expect([code, stdout]).toEqual([1, expect.stringContaining('No process has published limiters')]);
    } finally {
      await secured.stop();
    }
  });

  test('that is frozen exits with 2 after the deadline', async () => {
    const frozen = await startRedis();
    try {
      await frozen.freeze();
      const { code, stderr } = await sluice(['ls', '--deadline', '1s'], { REDIS_URL: frozen.url });
      expect([code, stderr]).toEqual([2, expect.stringMatching(/^sluice: redis:\/\/127\.0\.0\.1:\d+ did/)]);
    } finally {
      await frozen.stop();
    }
  });

  test('with a newer layout or foreign values gets a note for each', async () => {
    await admin.zadd('sluice:v3:fleet:definitions:{index}', 1, 'p');
    await admin.pexpire('sluice:v3:fleet:definitions:{index}', 60_000);
    await admin.set('sluice:v2:tb:api:{odd}', 'text of another program');
    await admin.lpush('sluice:v2:cc:jobs:{odd}', 'a list');
    try {
      expect((await sluice(['ls'], env)).stdout).toContain('newer layout v3');
      const { code, stdout } = await sluice(['inspect', 'odd'], env);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^api\n {2}It cannot be read: .*foreign value/m),
      ]);
      expect(stdout).toMatch(/^jobs\n {2}It cannot be read/m);
    } finally {
      await admin.del(
        'sluice:v3:fleet:definitions:{index}',
        'sluice:v2:tb:api:{odd}',
        'sluice:v2:cc:jobs:{odd}',
      );
    }
  });
});

describe('watch', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)('shows a key repeatedly until %s', async (signal) => {
    const child = await start(['watch', 'ann', '--every', '100ms'], env);
    let stdout = '';
    await new Promise<void>((seen) => {
      child.stdout.on('data', (chunk) => {
        stdout += chunk;
        if ((stdout.match(/login, perMinute/g) ?? []).length >= 3) seen();
      });
    });
    child.kill(signal);
    expect(await new Promise((ended) => child.once('close', ended))).toBe(0);
    expect(stdout).toContain('░');
    expect(stdout).not.toContain('\u001b');
  });
});

test.each([
  ['one policy', () => fixedWindow({ limit: 5, window: '1h' })],
  ['several policies', () => ({ perHour: fixedWindow({ limit: 5, window: '1h' }) })],
])('explain and reset accept the names of a factory’s limiters, %s', async (_, policies) => {
  const another = await startRedis();
  const own = redisStore(another.url);
  const factory = new LimiterFactory({ store: own, keyPrefix: 'app:x', deadline: '10s' });
  const run = (...args: string[]) => sluice(args, { REDIS_URL: another.url });
  try {
    for (const name of ['tenant-1', 'tenant-2'])
      await factory.get(name, policies).consume('ann', { cost: 5 });
    await eventually(async () =>
      (await readDefinitions(own)).some(({ limiters: of }) => of[0]?.kind === 'factory'),
    );
    const { code, stdout } = await run('explain', 'tenant-1', 'ann');
    expect([code, stdout]).toEqual([
      1,
      expect.stringMatching(/^No: limiter 'tenant-1' denies[\s\S]*those of 'tenant-2'/),
    ]);
    expect((await run('explain', 'tenant-1', 'eve')).code).toBe(0);
    expect(await run('reset', 'ann', '--limiter', 'tenant-1', '--yes')).toMatchObject({
      code: 0,
      stderr: '',
    });
    const left = async (name: string) => (await factory.get(name, policies).peek('ann')).remaining;
    expect([await left('tenant-1'), await left('tenant-2')]).toEqual([5, 0]);
  } finally {
    await factory.close();
    await own.close();
    await another.stop();
  }
});

test('explain shows the step, the end and the forgiveness of an escalation', async () => {
  const another = await startRedis();
  const own = redisStore(another.url);
  const codes = new RateLimiter({
    name: 'codes',
    policy: fixedWindow({ limit: 1, window: '2h' }),
    store: own,
    escalate: { after: 2, within: '1h', block: ['1h', '2d'], forgive: '5d' },
    deadline: '10s',
  });
  const why = async () => {
    const { code, stdout } = await sluice(['explain', 'codes', 'ann'], { REDIS_URL: another.url });
    expect(code).toBe(1);
    return stdout;
  };
  try {
    for (let call = 0; call < 3; call += 1) await codes.consume('ann');
    await eventually(async () => (await readDefinitions(own)).some(({ limiters: of }) => of.length > 0));
    expect(await why()).toMatch(
      /denies it: the key is blocked by escalation, step 1 of 2; the block ends at .+, in (?:59 min|1 h).*\. Forgiven at .+, in 5 d.*\.$/m,
    );
    await codes.unblock('ann');
    expect(await why()).toMatch(/denies it: 1 of 1 used in the window/);
    await codes.block('ann', '3h');
    expect(await why()).toMatch(/the key is blocked; the block ends at .+\. Forgiven at /);
  } finally {
    await codes.close();
    await own.close();
    await another.stop();
  }
});

test('inspect reads all 200 published limiters, and ls names the omitted ones', async () => {
  const many = await startRedis();
  const own = redisStore(many.url);
  const policy = fixedWindow({ limit: 5, window: '1h' });
  const made = Array.from(
    { length: 250 },
    (_, i) => new RateLimiter({ name: `l${i}`, policy, store: own, deadline: '10s' }),
  );
  try {
    for (const limiter of made) await limiter.consume('ann');
    await eventually(async () => (await readDefinitions(own))[0]?.limiters.length === 200);
    const all = await sluice(['inspect', 'ann', '--json'], { REDIS_URL: many.url });
    expect([all.code, all.values().length]).toEqual([0, 200]);
    const { stdout } = await sluice(['ls'], { REDIS_URL: many.url });
    expect(stdout).toContain('50 more limiters are not listed');
  } finally {
    await Promise.all(made.map((limiter) => limiter.close()));
    await own.close();
    await many.stop();
  }
});

test('a user without write rights can use every command that reads', async () => {
  await admin.call('ACL', 'SETUSER', 'reader', 'reset', 'on', '>pw', ...ONCALL_RULES);
  await admin.call('ACL', 'LOG', 'RESET');
  await store.usage!.publish();
  const login = { REDIS_URL: server.url, REDIS_USERNAME: 'reader', REDIS_PASSWORD: 'pw' };
  const before = await admin.dbsize();
  for (const args of [
    [],
    ['ls'],
    ['ls', '--processes'],
    ['inspect', 'ann'],
    ['explain', 'api', 'ann'],
    ['top'],
    ['stats'],
  ]) {
    const { code, stderr } = await sluice(args, login);
    expect([args, code, stderr]).toEqual([args, 0, '']);
  }
  expect(await admin.dbsize()).toBe(before);
  const refused = ((await admin.call('ACL', 'LOG')) as unknown[][]).map(
    (entry) => entry[entry.indexOf('object') + 1],
  );
  expect(refused.filter((object) => object !== 'client|setinfo')).toEqual([]);
  const { code, stderr } = await sluice(['reset', 'ann', '--yes'], login);
  expect([code, stderr]).toEqual([2, expect.stringContaining('refuses a command to this user')]);
});

test('help, version and completion do not connect to Redis', async () => {
  const nowhere = { REDIS_URL: 'redis://127.0.0.1:1' };
  const help = await sluice(['--help'], nowhere);
  expect(help.code).toBe(0);
  for (const name of [
    'block',
    'unblock',
    'resume',
    'reset',
    'override',
    'reward',
    'penalty',
    'push',
    'rollback',
  ])
    expect(help.stdout).toMatch(new RegExp(`^ +${name} .*\\[writes\\]`, 'm'));
  for (const name of ['ls', 'inspect', 'explain', 'top', 'stats', 'watch', 'diff', 'rules', 'completion']) {
    expect(help.stdout).not.toMatch(new RegExp(`^ +${name} .*\\[writes\\]`, 'm'));
    const { code, stdout } = await sluice([name, '--help'], nowhere);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/\nExample:\n {2}\$ /)]);
  }
  expect((await sluice(['--version'], nowhere)).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  for (const shell of ['bash', 'zsh', 'fish'])
    expect((await sluice(['completion', shell], nowhere)).stdout).toContain('completion-words');
  for (const [name] of help.stdout
    .slice(help.stdout.indexOf('Commands:'))
    .matchAll(/(?<=^ {2})[a-z]+(?= {2})/gm))
    if (name !== 'help') expect(page).toMatch(new RegExp(`^\\|.*\`${name}\\b`, 'm'));
});
