import { Redis } from 'ioredis';
import { redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { uniqueName } from '../../support/redis-url.js';
import { service } from './fleet-process.js';
import { openLivePage } from './live-page.js';
import { sluice, start } from './sluice.js';

// The Redis commands of every CLI command without the mark [writes], as the server sees them.

let server: RedisServer;
let admin: Redis;
let monitor: Redis;
let env: Record<string, string>;
/** Commands since the last call, including those of scripts. */
let seen: string[][] = [];

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  env = { REDIS_URL: server.url };
  const store = redisStore({ url: server.url, usage: { keys: 'plain' }, denials: true });
  const limiters = await service(store);
  await store.usage!.publish();
  // Its published definitions stay for minutes, and it writes nothing more.
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  // More keys than doctor scans without --scan.
  for (let from = 0; from < 60_000; from += 10_000)
    await admin.mset(Array.from({ length: 10_000 }, (_, i) => [`sluice:v2:fw:api:{${from + i}}`, '']).flat());
  monitor = await admin.monitor();
  monitor.on('monitor', (_time: string, args: string[]) => seen.push(args));
});
afterAll(async () => {
  monitor.disconnect();
  admin.disconnect();
  await server.stop();
});

/** Commands so far, without those of the test's own connection. */
async function sent(): Promise<string[][]> {
  const mark = uniqueName('mark');
  await admin.echo(mark);
  await eventually(async () => seen.some((args) => args[1] === mark));
  const commands = seen.filter(([name]) => name!.toLowerCase() !== 'echo');
  seen = [];
  return commands;
}

async function expectReads(commands: string[][], scans = 0): Promise<void> {
  expect(commands.length).toBeGreaterThan(0);
  const names = [...new Set(commands.map(([name]) => name!.toLowerCase()))];
  const described = (await admin.call('COMMAND', 'INFO', ...names)) as [string, number, string[]][];
  await sent();
  expect(described.filter(([, , flags]) => flags.includes('write')).map(([name]) => name)).toEqual([]);
  // CONFIG, SCRIPT and the like have subcommands that change the server.
  const changing = commands.filter(
    ([name, sub]) =>
      /^(?:config|script|acl|cluster|client|function)$/i.test(name!) &&
      !/^(?:get|exists|dryrun|setname|setinfo|info|nodes|slots)$/i.test(sub!),
  );
  expect(changing).toEqual([]);
  expect(names).not.toContain('keys');
  expect(Math.min(60, commands.filter(([name]) => name!.toLowerCase() === 'scan').length)).toBe(scans);
}

/** Steps of 1,000 keys that doctor scans. */
const SAMPLE = 20;

test.each([
  [[], 0],
  [['completion-words', 'sluice explain '], 0],
  [['ls'], 0],
  [['ls', '--processes'], 0],
  [['inspect', 'ann'], 0],
  [['inspect', 'nobody'], 0],
  [['explain', 'login', 'ann'], 0],
  [['explain', 'api', 'ann', '--cost', '3'], 0],
  [['top'], 0],
  [['top', '--cost'], 0],
  [['top', '--paused'], 0],
  [['stats'], 0],
  [['rules'], 0],
  [['tail', '--for', '500ms'], 0],
  [['doctor'], SAMPLE],
  [['doctor', '--scan'], 60], // or more: all
])('%j only reads', async (args, scans) => {
  await sent();
  const { stderr } = await sluice(args, env);
  expect(stderr).toBe('');
  await expectReads(await sent(), scans);
});

test.each([
  [['watch', '--every', '100ms'], /login[\s\S]*login/],
  [['watch', 'ann', '--every', '100ms'], /perMinute[\s\S]*perMinute/],
])('%j only reads', async (args, shown) => {
  await sent();
  const child = await start(args, env);
  let stdout = '';
  await new Promise<void>((enough) =>
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      if (shown.test(stdout)) enough();
    }),
  );
  child.kill('SIGINT');
  await new Promise((ended) => child.once('close', ended));
  await expectReads(await sent());
});

test('dashboard only reads, also with an open key and with --write', async () => {
  await sent();
  const page = await openLivePage(['--write'], env);
  await page.until('events', ['"name":"login"', 'event: usage\ndata: {', 'event: findings\ndata: [{']);
  await page.until('key', ['event: key'], { limiter: 'login', key: 'ann' });
  await page.stop();
  await expectReads(await sent(), SAMPLE);
});

test.each([
  [['unblock', 'bob']],
  [['reset', 'ann']],
  [['block', 'ann', '--limiter', 'api', '--for', '1h']],
  [['override', 'ann', 'capacity=1', '--limiter', 'api', '--for', '1h']],
  [['penalty', 'ann', '1', '--limiter', 'api']],
  [['reward', 'ann', '1', '--limiter', 'api']],
])('%j writes nothing without an answer', async (args) => {
  await sent();
  expect((await sluice(args, env)).stderr).toContain('Add --yes if you are sure.');
  await expectReads(await sent());
});

test('a command with --yes writes, which these tests detect', async () => {
  await sent();
  expect(await sluice(['unblock', 'bob', '--yes'], env)).toMatchObject({ code: 0, stderr: '' });
  await expect(expectReads(await sent())).rejects.toThrow(/"del"/);
});
