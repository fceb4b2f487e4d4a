import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { bundle } from '../../support/bundle.js';
import { programEnv } from '../../support/program-env.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';

let program: Awaited<ReturnType<typeof bundle>>;
const clients: Client[] = [];
beforeAll(async () => {
  program = await bundle(resolve(__dirname, 'stdio-server.ts'));
});
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});
afterAll(() => program?.remove());

/** @param args of the program that serves the client */
async function open(...args: string[]): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  clients.push(client);
  const env = Object.fromEntries(
    Object.entries(programEnv).filter((one): one is [string, string] => one[1] !== undefined),
  );
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args: [program.file, ...args], env }),
  );
  return client;
}

async function denials(client: Client, calls: number): Promise<boolean[]> {
  const all = [];
  for (let i = 0; i < calls; i += 1) all.push((await client.callTool({ name: 'echo' })).isError === true);
  return all;
}

test('over stdio all calls of a process count together', async () => {
  expect(await denials(await open(uniqueName('mcp')), 3)).toEqual([false, false, true]);
});

test('over stdio two processes count together in Redis', async () => {
  const args = [uniqueName('mcp'), redisUrl()];
  const [first, second] = await Promise.all([open(...args), open(...args)]);
  expect(await denials(first, 1)).toEqual([false]);
  expect(await denials(second, 2)).toEqual([false, true]);
});
