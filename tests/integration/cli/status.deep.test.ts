import { readDefinitions } from '@sluice/fleet';
import { Redis } from 'ioredis';
import { fixedWindow, RateLimiter, redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/redis/free-port.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { onTerminal } from '../../support/terminal.js';
import { HOSTILE, service } from './fleet-process.js';
import { program, sluice } from './sluice.js';

// `sluice` without a command, on a Redis whose processes count their calls.

let server: RedisServer;
let admin: Redis;
let store: ReturnType<typeof redisStore>;
let env: Record<string, string>;
let limiters: Awaited<ReturnType<typeof service>>;

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  store = redisStore({ url: server.url, usage: { keys: 'plain' }, denials: true });
  env = { REDIS_URL: server.url };
  await program(); // before the denial, which the state shows for a minute
  limiters = await service(store);
  await store.usage!.publish();
});
afterAll(async () => {
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  admin.disconnect();
  await server.stop();
});

const wide = (text: string, columns: number) => text.split('\n').filter((line) => line.length > columns);

test('sluice alone shows the store, the limiters, who was denied, what is wrong, and what to do next', async () => {
  const { code, stdout, stderr } = await sluice([], { ...env, COLUMNS: '80' });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^redis:\/\/127\.0\.0\.1:\d+ answers in [\d.]+ ms\. 1 process on 1 host has 3\s+limiters\./,
  );
  expect(stdout).toMatch(
    /^login: 1 process on 1 host, [\d.]+ allowed\/s, [\d.]+ denied\/s\n {2}perMinute: 5 per 1 h\n {2}perDay: 50 per 1 d$/m,
  );
  expect(stdout).toMatch(/^Denied most in the last minute\n.*\n {2}login +ann +1$/m);
  expect(stdout).toMatch(/^Wrong now\n {2}Nothing: no outage and no failed call in the last minute\.$/m);
  expect(stdout).toMatch(/^Next\n {2}sluice explain login ann {2}/m);
  expect(stdout).toMatch(/^ {2}sluice tail /m);
  expect(wide(stdout, 80)).toEqual([]);
  const [, command] = /^ {2}sluice (explain .*?) {2}/m.exec(stdout)!;
  expect(await sluice(command!.split(' '), env)).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^No: /),
  });
});

test('sluice status is the same, and 60 columns are enough', async () => {
  const { code, stdout } = await sluice(['status'], { ...env, COLUMNS: '60' });
  expect(code).toBe(0);
  expect(stdout).toMatch(/^login: 1 process on 1 host, [\d.]+ allowed\/s, [\d.]+ denied\/s$/m);
  expect(wide(stdout, 60)).toEqual([]);
});

test('--json has the same facts', async () => {
  const { code, values } = await sluice(['--json'], env);
  expect(code).toBe(0);
  expect(values()).toEqual([
    expect.objectContaining({
      store: { address: expect.stringMatching(/^redis:/), name: 'redis', roundTrip: expect.any(Number) },
      processes: [
        { process: store.fleet.process, host: expect.any(String), pid: process.pid, version: '0.1.0' },
      ],
      counting: [store.fleet.process],
      keys: 'plain',
      denied: [{ limiter: 'login', key: 'ann', count: 1, error: 0 }],
      problems: [],
    }),
  ]);
  const [{ limiters: listed, next } = { limiters: [], next: [] }] = values() as {
    limiters: object[];
    next: object[];
  }[];
  expect(listed).toMatchObject([
    { limiter: 'login', policies: { perMinute: { limit: 5 }, perDay: { limit: 50 } } },
    { limiter: 'api' },
    { limiter: 'jobs' },
  ]);
  expect(next[0]).toEqual({
    command: 'sluice explain login ann',
    does: 'would a call pass now, and why not',
  });
});

test('command lines repeat the options that said where the store is', async () => {
  const { stdout } = await sluice(['--redis', server.url]);
  expect(stdout).toContain(`  sluice --redis ${server.url} explain login ann  `);
  const withPassword = server.url.replace('//', '//default:secret@');
  expect(
    (await sluice(['--redis', withPassword])).stdout + (await sluice(['--redis', withPassword])).stderr,
  ).not.toContain('secret');
});

test('colours are for terminals, and NO_COLOR turns them off', async () => {
  const { file } = await program();
  const command = `'${process.execPath}' '${file}'`;
  for (const [more, colours] of [
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ] as const) {
    const terminal = onTerminal(command, 80, 40, { ...env, ...more });
    expect(await terminal.ended).toBe(0);
    expect(terminal.text.includes('\u001b[1mNext\u001b[22m')).toBe(colours);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    const bare = terminal.text.replaceAll('\r', '').replace(/\u001b\[\d+m/g, '');
    expect(wide(bare, 80)).toEqual([]);
  }
});

test('a hostile key commands no terminal, and is in no command line', async () => {
  for (let i = 0; i < 9; i += 1) await limiters.api.consume(HOSTILE, { cost: 11 });
  await store.usage!.publish();
  const { stdout } = await sluice([], env);
  expect(stdout).toContain('x\\u{1b}[2J\\u{202e}<script>');
  expect(stdout).not.toMatch(/\p{Cf}|(?!\n)\p{Cc}/u);
  expect(stdout).not.toContain('sluice explain');
  await limiters.api.reset(HOSTILE);
});

test('a process that decided by its failure policy says so when the store is back', async () => {
  const own = await startRedis();
  const shop = redisStore({ url: own.url, usage: true });
  const limiter = new RateLimiter({
    name: 'shop',
    policy: fixedWindow({ limit: 5, window: '1h' }),
    store: shop,
  });
  try {
    await limiter.consume('ann');
    await own.kill();
    await eventually(async () => (await limiter.consume('ann')).degraded);
    const out = await sluice(['--json'], { REDIS_URL: own.url });
    expect(out.code).toBe(2);
    expect(out.values()).toEqual([
      {
        store: {
          address: expect.stringMatching(/^redis:/),
          problem: expect.stringContaining('does not answer'),
        },
      },
    ]);
    expect(out.stderr).toMatch(
      /the failurePolicy of each limiter\s+decides\.\s+What is wrong with the store: sluice doctor/,
    );
    await own.restart();
    await eventually(async () => (await shop.usage!.publish()) && !(await limiter.consume('ann')).degraded);
    await shop.usage!.publish();
    const { code, stdout } = await sluice([], { REDIS_URL: own.url });
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^Wrong now\n {2}In the last minute the failure policy decided \d+ calls? of shop: a process got no answer/m,
    );
    expect(stdout).toMatch(/^Next\n(?:.*\n)* {2}sluice doctor /m);
  } finally {
    await limiter.close();
    await shop.close();
    await own.stop();
  }
});

test('an empty store, one that refuses the login and one that is frozen say what is wrong', async () => {
  const other = await startRedis({ args: ['--requirepass', 'right'] });
  const run = (...args: string[]) => sluice(args, { REDIS_URL: other.url, COLUMNS: '1000' });
  try {
    const refused = await run();
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('refuses the login')]);
    const empty = await sluice([], { REDIS_URL: other.url, REDIS_PASSWORD: 'right', COLUMNS: '1000' });
    expect([empty.code, empty.stdout]).toEqual([
      0,
      expect.stringContaining('No process has published limiters.'),
    ]);
    await other.freeze();
    const frozen = await run('--deadline', '1s');
    expect([frozen.code, frozen.stderr]).toEqual([
      2,
      expect.stringContaining('did not answer within 1000 ms'),
    ]);
  } finally {
    await other.stop();
  }
});

test('without a store, sluice prints how to name one, and no stack', async () => {
  const { code, stdout, stderr } = await sluice([], { COLUMNS: '80' });
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toBe(
    [
      'sluice: No store is given. Name the one that your processes use, or export it as',
      'SLUICE_STORE:',
      '$ sluice --store redis://127.0.0.1:6379',
      '$ sluice --store postgres://user@host/database',
      '$ sluice --store sqlite:limits.db',
      '$ sluice --store https://eu1-name.upstash.io',
      'All commands and options: sluice --help',
      '',
    ].join('\n'),
  );
});

describe('the names of limiters complete', () => {
  /** What bash offers for a command line. */
  async function completed(line: string, more: Record<string, string> = env): Promise<string[]> {
    const { file } = await program();
    const script = `
      sluice() { '${process.execPath}' '${file}' "$@"; }
      source <(sluice completion bash)
      COMP_LINE=$LINE COMP_POINT=\${#LINE} COMP_WORDS=() COMPREPLY=()
      # bash itself splits a line at colons, too.
      for word in \${LINE//:/ : }; do COMP_WORDS+=("$word"); done
      case $LINE in *' ') COMP_WORDS+=('') ;; esac
      COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
      _sluice
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const terminal = onTerminal(`bash -c "$SCRIPT"`, 200, 24, { ...more, LINE: line, SCRIPT: script });
    expect(await terminal.ended).toBe(0);
    return terminal.text.split(/\r?\n/).filter(Boolean);
  }

  test('as the first argument of explain and tail, and as the value of --limiter', async () => {
    expect(await completed('sluice explain ')).toEqual(['api', 'jobs', 'login']);
    expect(await completed('sluice tail lo')).toEqual(['login']);
    expect(await completed('sluice block ann --limiter ')).toEqual(['api', 'jobs', 'login']);
    expect(await completed(`sluice --redis ${server.url} explain j`, {})).toEqual(['jobs']);
    expect(await completed('sluice explain login --p')).toEqual(['--plan']);
    expect(await completed('sluice top --li')).toEqual(['--limiter']);
    expect(await completed('sluice expl')).toEqual(['explain']);
  });

  test('also with a colon', async () => {
    const limiter = new RateLimiter({
      name: 'shop:cart',
      policy: fixedWindow({ limit: 5, window: '1h' }),
      store,
      deadline: '10s',
    });
    await limiter.consume('ann');
    await eventually(async () =>
      (await readDefinitions(store)).some(({ limiters: of }) => of.some(({ name }) => name === 'shop:cart')),
    );
    expect(await completed('sluice explain shop:c')).toEqual(['cart']);
    expect(await completed('sluice explain sh')).toEqual(['shop:cart']);
    await limiter.close();
  });

  test('and nothing is said if the store is out or frozen, or the line has a mistake', async () => {
    const port = await freePort();
    const frozen = await startRedis();
    await frozen.freeze();
    try {
      for (const at of [
        `--redis redis://127.0.0.1:${port}`,
        `--redis ${frozen.url}`,
        '--redis nonsense',
        '--store',
      ])
        expect(await sluice(['completion-words', `sluice ${at} explain `])).toMatchObject({
          code: 0,
          stdout: '',
          stderr: '',
        });
    } finally {
      await frozen.stop();
    }
  });
});
