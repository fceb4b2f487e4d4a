import { redisStore } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { onTerminal } from '../../support/terminal.js';
import { service } from './fleet-process.js';
import { program, start } from './sluice.js';

let server: RedisServer;
let store: ReturnType<typeof redisStore>;
let limiters: Awaited<ReturnType<typeof service>>;
let sluice: string;

beforeAll(async () => {
  server = await startRedis();
  store = redisStore({ url: server.url, usage: { keys: 'plain' } });
  limiters = await service(store);
  await store.usage!.publish();
  sluice = `'${process.execPath}' '${(await program()).file}'`;
});
afterAll(async () => {
  await Promise.all(Object.values(limiters).map((limiter) => limiter.close()));
  await store.close();
  await server.stop();
});

const CLEAR = '\u001b[H\u001b[J';
const [ENTER, LEAVE] = ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l'];
/** The drawn views, without colours. */
const viewsOf = (text: string) =>
  text
    .split(CLEAR)
    .slice(1)
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours
    .map((view) => view.replace(/\u001b\[\d+m/g, '').split(/\r?\n/));

test.each([
  ['all limiters', ['watch'], 'login'],
  ['one key', ['watch', 'ann'], 'login, perMinute'],
])('%s redraws a screen of 40 columns until Ctrl-C', async (_, args, shown) => {
  // Ctrl-C also reaches the shell, which must survive to print the rest.
  const command = `trap : INT; stty -a; ${sluice} ${args.join(' ')} --every 100ms; echo "exit $?"; stty -a`;
  const terminal = onTerminal(command, 40, 30, { REDIS_URL: server.url });
  await eventually(async () => viewsOf(terminal.text).length > 3);
  terminal.type('\u0003');
  await terminal.ended;
  const { text } = terminal;
  const views = viewsOf(text.slice(0, text.indexOf(LEAVE)));
  expect(views[0]!.join('\n')).toContain(shown);
  for (const view of views) {
    expect(view.filter((line) => line.length > 40)).toEqual([]);
    expect(view.length).toBeLessThan(30);
  }
  expect(text).toMatch(/exit 0/);
  // The terminal has its settings, its main screen and its cursor again.
  const [before, after] = text.match(/speed[\s\S]*?(?:-extproc|echoke[^\n]*)/g) as [string, string];
  expect(after).toBe(before);
  expect([text.split(ENTER).length, text.split(LEAVE).length]).toEqual([2, 2]);
  expect(text.indexOf(LEAVE)).toBeGreaterThan(text.lastIndexOf(CLEAR));
});

test('watch shows the first lines on a small terminal', async () => {
  const terminal = onTerminal(`${sluice} watch ann --every 100ms`, 40, 6, { REDIS_URL: server.url });
  await eventually(async () => viewsOf(terminal.text).length > 2);
  terminal.type('\u0003');
  await terminal.ended;
  const [view] = viewsOf(terminal.text) as [string[]];
  expect(view[0]).toContain('Ctrl-C ends it');
  expect(view.length).toBeLessThanOrEqual(6);
  expect(view.at(-1)).toBe('…');
});

// biome-ignore lint/suspicious/noControlCharactersInRegex: colours
const COLOUR = /\u001b\[[1-9]\d*m/;

test.each([
  ['colours on a terminal', {}, '', true],
  ['no colours with NO_COLOR', { NO_COLOR: '1' }, '', false],
  ['no colours with --no-color', {}, ' --no-color', false],
  ['no colours on a dumb terminal', { TERM: 'dumb' }, '', false],
  ['no colours in a pipe', {}, ' | cat', false],
])('the output has %s', async (_, env, more, expected) => {
  const terminal = onTerminal(`${sluice} inspect ann${more}`, 80, 24, { REDIS_URL: server.url, ...env });
  await terminal.ended;
  expect(terminal.text).toContain('perMinute');
  expect(COLOUR.test(terminal.text)).toBe(expected);
});

test('a command on a terminal needs a yes before it writes', async () => {
  for (const [answer, expected] of [
    ['n\n', 'Nothing was changed.'],
    ['\u0003', ''],
    ['y\n', "'bob' is unblocked at 'api'."],
  ] as const) {
    const terminal = onTerminal(`${sluice} unblock bob; echo "exit $?"`, 80, 24, { REDIS_URL: server.url });
    await eventually(async () => terminal.text.includes("Unblock 'bob' at 'api'? [y/N] "));
    expect((await limiters.api.peek('bob')).allowed).toBe(false);
    terminal.type(answer);
    await terminal.ended;
    expect(terminal.text).toContain(expected);
    expect(terminal.text).not.toContain('    at ');
  }
  expect((await limiters.api.peek('bob')).allowed).toBe(true);
});

test.each([
  ['frozen', () => server.freeze(), () => server.thaw()],
  ['restarted', () => server.kill(), () => server.restart()],
])('watch continues after Redis was %s, also with --json', async (_, out, back) => {
  const args = ['watch', 'ann', '--every', '100ms', '--json', '--deadline', '500ms'];
  const child = await start(args, { REDIS_URL: server.url });
  let stdout = '';
  child.stdout.on('data', (chunk) => {
    stdout += chunk;
  });
  const last = () => JSON.parse(stdout.split('\n').at(-2) || '{}') as Record<string, unknown>;
  await eventually(async () => last().limiter !== undefined);
  await out();
  await eventually(async () => last().problem !== undefined);
  expect(last().problem).toMatch(/does not answer|did not answer within/);
  await back();
  await eventually(async () => last().limiter !== undefined);
  child.kill('SIGINT');
  expect(await new Promise((ended) => child.once('close', ended))).toBe(0);
});
