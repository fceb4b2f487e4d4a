import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { redisStore } from '../../../packages/core/src/index.js';
import { storedRules } from '../../../packages/rules/src/index.js';
import { eventually } from '../../support/eventually.js';
import { type RedisServer, startRedis } from '../../support/redis/redis-server.js';
import { onTerminal } from '../../support/terminal.js';
import { program } from './sluice.js';

// `sluice push` and `rollback` need a yes on a terminal, and change nothing without it.

let server: RedisServer;
let store: ReturnType<typeof redisStore>;
let folder: string;
let sluice: string;

beforeAll(async () => {
  server = await startRedis();
  store = redisStore(server.url);
  folder = await mkdtemp(join(tmpdir(), 'sluice-push-'));
  sluice = `'${process.execPath}' '${(await program()).file}'`;
});
afterAll(async () => {
  await store.close();
  await server.stop();
  await rm(folder, { recursive: true });
});

const text = (version: number) =>
  `version: ${version}\nrules: [{ name: api, limit: { fixedWindow: { limit: ${version}, window: 1m } } }]\n`;
const numbers = async () => (await storedRules(store).versions()).map(({ number }) => number);

/** @param typed the answer; `'\u0003'` is Ctrl-C, `'\u0004'` is Ctrl-D */
async function answered(args: string, question: string, typed: string): Promise<string> {
  const terminal = onTerminal(`cd '${folder}'; ${sluice} ${args}; echo "exit $?"`, 120, 24, {
    REDIS_URL: server.url,
  });
  await eventually(async () => terminal.text.includes(question));
  terminal.type(typed);
  await terminal.ended;
  expect(terminal.text).not.toContain('    at ');
  return terminal.text.slice(terminal.text.indexOf(question));
}

test('push and rollback change Redis only after a yes', async () => {
  await writeFile(join(folder, 'limits.yaml'), text(1));
  const first = "Push limits.yaml as the rules 'rules'? [y/N] ";
  for (const no of ['\n', 'maybe\n', '\u0003', '\u0004']) {
    expect(await answered('push limits.yaml', first, no)).toMatch(/Nothing was changed\.\r?\n[\s\S]*exit 1/);
  }
  expect(await numbers()).toEqual([]);
  expect(await answered('push limits.yaml', first, 'y\n')).toMatch(
    /Pushed as number 1 \(version 1\)[\s\S]*exit 0/,
  );
  expect(await numbers()).toEqual([1]);

  await writeFile(join(folder, 'limits.yaml'), text(2));
  const second = "Push limits.yaml as the rules 'rules', after number 1 (version 1)? [y/N] ";
  expect(await answered('push limits.yaml', second, 'yes\n')).toContain('Pushed as number 2 (version 2)');
  const back = "Replace number 2 (version 2) of the rules 'rules' by number 1 (version 1)? [y/N] ";
  expect(await answered('rollback', back, 'n\n')).toMatch(/Nothing was changed\.[\s\S]*exit 1/);
  expect(await numbers()).toEqual([2, 1]);
  expect(await answered('rollback', back, 'Y\n')).toContain('Pushed as number 3 (version 1).');
});

test('a push changes nothing if another push succeeds before its yes', async () => {
  const [latest] = await numbers();
  await writeFile(join(folder, 'limits.yaml'), text(7));
  const terminal = onTerminal(`${sluice} push '${folder}/limits.yaml'; echo "exit $?"`, 200, 24, {
    REDIS_URL: server.url,
  });
  await eventually(async () => terminal.text.includes('[y/N] '));
  await storedRules(store).push(text(8));
  terminal.type('y\n');
  await terminal.ended;
  expect(terminal.text).toContain(`not version ${latest} any more; nothing was changed`);
  expect(terminal.text).toContain('exit 1');
  expect((await numbers())[0]).toBe(latest! + 1);
});
