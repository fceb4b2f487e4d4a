import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { redisScripts } from '@sluice/core/internal';
import { Redis } from 'ioredis';
import { SENT_COMMANDS } from '../../../packages/cli/src/doctor/sent-commands.js';
import { asUser, CLUSTER_RULES, DISPENSABLE, RULES, setUser } from '../../security/least-privilege/rules.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { findingsAt, lineOf } from './findings.js';

const root = join(__dirname, '../../..');
let server: RedisServer;
let admin: Redis;
const ask = (command: string, ...args: string[]) => admin.call(command, ...args);

beforeAll(async () => {
  server = await startRedis();
  admin = new Redis(server.url);
  // A process that has published nothing readable.
  await admin.zadd('sluice:v2:fleet:definitions:{index}', Date.now(), 'a');
  await admin.set('sluice:v2:fleet:definitions:{a}', '{}');
});
afterAll(async () => {
  admin.disconnect();
  await server.stop();
});

const isCommand = (rule: string) => rule.startsWith('+');

test('checks the commands of docs/operations.md', () => {
  const rules = (inCluster: boolean) =>
    SENT_COMMANDS.filter((command) => (command.inCluster === true) === inCluster).map(({ rule }) => rule);
  expect(rules(false).sort()).toEqual(RULES.filter(isCommand).sort());
  expect(rules(true).sort()).toEqual(CLUSTER_RULES.filter(isCommand).sort());
  const dispensable = SENT_COMMANDS.filter(({ without }) => without !== undefined).map(({ rule }) => rule);
  expect(dispensable.sort()).toEqual([...DISPENSABLE].sort());
});

test('checks all scripts of core', () => {
  const names = readdirSync(join(root, 'packages/core/src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.script.ts'))
    .map((file) => /name: '(.*?)'/.exec(readFileSync(join(root, 'packages/core/src', file), 'utf8'))![1]);
  expect(redisScripts.map(({ name }) => name).sort()).toEqual(names.sort());
});

const rightsOf = async (rules: readonly string[], prefix = 'sluice') => {
  await setUser(ask, rules);
  const findings = await findingsAt(server.url, { user: 'sluice', prefix });
  return findings.filter(({ id }) => /^rights?/.test(id));
};

test('reports each missing right of the page, and none for a user with all', async () => {
  expect((await rightsOf(RULES)).map(lineOf)).toEqual([
    `ok rights: 'sluice' may run all ${RULES.filter(isCommand).length} commands`,
  ]);
  for (const rule of RULES) {
    const [finding, ...others] = await rightsOf(RULES.filter((other) => other !== rule));
    expect(others).toEqual([]);
    expect(finding).toMatchObject(
      DISPENSABLE.includes(rule)
        ? {
            id: 'right-advised',
            level: 'note',
            fix: expect.stringMatching(` \\${rule.replace('|', '\\|')}$`),
          }
        : { id: 'right-missing', level: 'error', fix: expect.stringContaining(rule) },
    );
  }
  const ofOther = RULES.map((rule) => rule.replace(/^([~&])sluice:\*$/, '$1other:*'));
  expect(await rightsOf([...ofOther, '~sluice:v2:fleet:*'], 'other')).toMatchObject([
    { id: 'right-advised', fix: expect.stringMatching(/ &sluice:v2:fleet:\*$/) },
  ]);
  expect((await rightsOf(RULES, 'other')).map(lineOf)).toEqual([
    expect.stringMatching(
      /^error right-missing: The user 'sluice' may not run \+eval \+evalsha \+get \+set /,
    ),
  ]);
});

test('notes each check that a user without rights cannot run, without errors', async () => {
  await setUser(ask, RULES);
  const findings = await findingsAt(asUser(server.url));
  const notSeen = findings.filter(({ id }) => id === 'not-permitted');
  expect(notSeen.map(({ level, fix }) => `${level} ${fix.split(',')[0]}`).sort()).toEqual([
    'note ACL SETUSER sluice +acl|dryrun',
    'note ACL SETUSER sluice +command|info',
    'note ACL SETUSER sluice +getrange',
    'note ACL SETUSER sluice +scan',
    'note ACL SETUSER sluice +script|exists',
  ]);
  expect(findings.map(({ id }) => id)).toContain('rights-unknown');
  for (const about of ['rights', 'commands', 'layouts', 'scripts'])
    expect(findings.map(({ id }) => id)).not.toContain(about);
  await setUser(ask, ['~*', '+ping']);
  const none = await findingsAt(asUser(server.url));
  expect(none.filter(({ level }) => level === 'warning').map(lineOf)).toEqual([
    "warning not-permitted: The user 'sluice' may not run INFO, so these were not looked at: the state of the server",
    "warning not-permitted: The user 'sluice' may not run TIME, so these were not looked at: the time of the server",
  ]);
  expect(none.filter(({ level }) => level === 'ok').map(lineOf)).toEqual([
    expect.stringMatching('ok connection'),
  ]);
});

const page = () => readFileSync(join(root, 'docs/doctor.md'), 'utf8');

test('runs every check with the rights of docs/doctor.md', async () => {
  const rules = /^user doctor on >\S+ (.*)$/m.exec(page())![1]!.split(' ');
  await setUser(ask, rules);
  const findings = await findingsAt(asUser(server.url), { user: 'sluice' });
  expect(findings.filter(({ id }) => id.startsWith('not-')).map(lineOf)).toEqual([]);
  for (const rule of rules.filter((one) => /\+(?!cluster|select|sentinel|config)/.test(one))) {
    await setUser(
      ask,
      rules.filter((one) => one !== rule),
    );
    const lacking = await findingsAt(asUser(server.url), { user: 'sluice' });
    expect([rule, lacking.map(({ id }) => id)]).toEqual([rule, expect.arrayContaining(['not-permitted'])]);
  }
});

test('reports renamed commands', async () => {
  const renamed = ['CONFIG', 'EVALSHA'].flatMap((command) => ['--rename-command', command, '']);
  const other = await startRedis({ args: [...renamed, '--appendonly', 'yes'] });
  const findings = await findingsAt(other.url);
  await other.stop();
  expect(findings.filter(({ id }) => /^(?:not-|command)/.test(id)).map(lineOf)).toEqual([
    'error command-missing: The server has no EVALSHA',
    'note not-offered: The server refuses CONFIG GET, so these were not looked at: appendfsync',
  ]);
});

test('sends only reads', async () => {
  await admin.set('sluice:v2:tb:login:{ann}', 'x');
  const changes = async () => /rdb_changes_since_last_save:\d+/.exec(await admin.info())![0];
  const before = await changes();
  const second = admin.duplicate();
  const monitor = await second.monitor();
  const sent: string[] = [];
  monitor.on('monitor', (_time: string, args: string[]) => sent.push(args[0]!.toLowerCase()));
  await admin.config('RESETSTAT');
  await findingsAt(server.url, { scan: true, user: 'sluice' });
  const stats = await admin.info('commandstats');
  const ran = [...stats.matchAll(/^cmdstat_([^:]+):/gm)].map(([, name]) => name!);
  monitor.disconnect();
  second.disconnect();
  expect(await changes()).toBe(before);
  expect(ran.sort()).toEqual(
    [
      'acl|dryrun',
      'command|info',
      'getrange',
      'zrange',
      'config|resetstat',
      'info',
      'scan',
      'script|exists',
      'time',
    ].sort(),
  );
  expect(sent).toContain('scan');
  expect(sent).not.toContain('set');
});
