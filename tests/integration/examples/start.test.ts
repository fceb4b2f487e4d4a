import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { programEnv } from '../../support/program-env.js';

// `npm start` as users run it: from the sources, without a build.
const SCRIPT = resolve(__dirname, '../../../scripts/start.mjs');
const running: ChildProcess[] = [];

function launch(example: string, env: Record<string, string>): ChildProcess {
  const child = spawn(process.execPath, [SCRIPT, example], { env: { ...programEnv, ...env } });
  running.push(child);
  return child;
}

afterEach(async () => {
  for (const child of running.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
});

async function address(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    text += chunk;
    const [url] = /http:\/\/127\.0\.0\.1:\d+/.exec(text) ?? [];
    if (url !== undefined) return url;
  }
  throw new Error(`it exited: ${text}`);
}

async function ended(child: ChildProcess): Promise<{ code: number | null; said: string }> {
  let said = '';
  child.stderr!.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  return { code, said };
}

test('npm start serves a page, limits requests, and stops on a signal', async () => {
  const child = launch('starter', { PORT: '0' });
  const url = await address(child);
  const response = await fetch(url);
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('What to try')]);
  expect((await fetch(`${url}/hello`)).status).toBe(200);
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
});

test('npm start reports a port in use in one sentence, before it compiles', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  // No compiler could run here: the port must be checked first.
  const child = launch('starter', { PORT: String(port), ESBUILD_BINARY_PATH: '/nowhere/esbuild' });
  expect(await ended(child)).toEqual({
    code: 1,
    said: `Port ${port} is in use: choose another, as in PORT=${port < 65_535 ? port + 1 : port - 1} npm start\n`,
  });
  server.close();
});

test.each([
  ['starter', { PORT: 'http' }, 'PORT must be a number from 0 to 65535, not "http"\n'],
  ['starter', { PORT: '70000' }, 'PORT must be a number from 0 to 65535, not "70000"\n'],
  ['startr', {}, 'There is no example "startr"\n'],
])('npm start exits with one sentence: %s, %j', async (example, env, said) => {
  expect(await ended(launch(example, env as Record<string, string>))).toEqual({ code: 1, said });
});
