import { resolve } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import express from 'express';
import supertest from 'supertest';
import { eventually } from '../../support/eventually.js';
import { rejection } from '../../support/rejection.js';
import { blocksOf, blockTagged, evaluateBlock } from '../docs/markdown.js';
import { buildBlock, type Program, startBlock } from '../recipes/program.js';

const PAGE = 'docs/mcp.md';
const file = resolve(__dirname, '../../..', PAGE);

const opened: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of opened.splice(0).reverse()) await one.close();
});

async function connect(transport: Transport): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  opened.push(client);
  await client.connect(transport);
  return client;
}

async function texts(client: Client, calls: number, name: string, given = {}): Promise<unknown[]> {
  const all = [];
  for (let i = 0; i < calls; i += 1) {
    const { content } = (await client.callTool({ name, arguments: given })) as CallToolResult;
    all.push(content[0]?.type === 'text' && content[0].text);
  }
  return all;
}

test('the server over stdio denies the third call of its tool', async () => {
  const { file, folder, remove } = await buildBlock(PAGE, 'mcp-stdio');
  opened.push({ close: remove });
  const client = await connect(
    new StdioClientTransport({ command: process.execPath, args: [file], cwd: folder }),
  );
  expect(await texts(client, 3, 'research', { topic: 'rivers' })).toEqual([
    'all about rivers',
    'all about rivers',
    expect.stringMatching(/^Too many calls of the tool "research"\. Call it again in .+, not earlier\.$/),
  ]);
});

test('a request that names no session counts as a new one, also with an empty header', async () => {
  const [block] = blocksOf(file).filter(({ source }) => source.includes('mcp-sessions'));
  const { values } = await evaluateBlock(block!, require, {}, ['sessions']);
  const app = express();
  app.post('/mcp', values.sessions as express.RequestHandler, (_request, response) => {
    response.end();
  });
  const agent = supertest(app);
  const post = async (id: string) => (await agent.post('/mcp').set('mcp-session-id', id)).status;
  const statuses = [];
  for (let i = 0; i < 12; i += 1) statuses.push(await post(''));
  expect(statuses).toEqual([...Array(10).fill(200), 429, 429]);
  expect(await post('a-session')).toBe(200);
});

/** A tool that runs until its call is aborted. */
const SLOW = `server.registerTool('slow', {}, ({ signal }) => {
  console.log('slow runs');
  return new Promise((_, reject) => signal.addEventListener('abort', () => {
    console.log('slow is aborted');
    reject(signal.reason);
  }));
});
limitTools(`;

/** The part of the Express program that the program of Hono imports. */
function commonPart(): string {
  const program = blockTagged(file, 'mcp-http');
  const common = program.slice(0, program.indexOf('const requests'));
  return common.replace(/^(?=const store|const verifier|function createServer)/gm, 'export ');
}

test('the server of Hono begins no tool for a client that left while its token was checked', async () => {
  const late = commonPart().replace(
    'async verifyAccessToken(token: string) {',
    `$&
    console.log('checks');
    await new Promise((done) => setTimeout(done, 2_000));
    console.log('checked');`,
  );
  const server = late.replace('function createServer() {', "$&\n  console.log('a server');");
  const program = await startBlock(PAGE, 'mcp-hono', { files: { 'server.ts': server } });
  opened.push({ close: program.stop });
  const leaving = new AbortController();
  const headers = { Authorization: 'Bearer a-token-of-ann' };
  const call = fetch(new URL('/mcp', program.url), { method: 'POST', headers, signal: leaving.signal });
  const left = rejection(call);
  await eventually(async () => program.output().includes('checks'));
  leaving.abort();
  await left;
  await eventually(async () => program.output().includes('checked'));
  await new Promise(setImmediate);
  expect(program.output()).not.toContain('a server');
});

test.each(['mcp-http', 'mcp-hono'])('the server of %s refuses a token that has expired', async (tag) => {
  const replace = { '1000 + 60': '1000 - 60' };
  const program = await startBlock(PAGE, tag, { files: { 'server.ts': commonPart() }, replace });
  opened.push({ close: program.stop });
  const headers = { Authorization: 'Bearer a-token-of-ann' };
  const { status } = await fetch(new URL('/mcp', program.url), { method: 'POST', headers });
  expect(status).toBe(401);
});

describe.each(['mcp-http', 'mcp-hono'])('the server over HTTP: %s', (tag) => {
  let url: URL;
  let program: Program;
  beforeEach(async () => {
    const files = { 'server.ts': commonPart() };
    const replace = { "every: '1s'": "every: '1h'", 'limitTools(server, ': `${SLOW}server, ` };
    program = await startBlock(PAGE, tag, { files, replace });
    opened.push({ close: program.stop });
    url = new URL('/mcp', program.url);
  });
  const transport = (token: string) =>
    new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { Authorization: `Bearer ${token}` } },
    });

  test('counts all tokens of a user together, and no other user', async () => {
    const first = await connect(transport('a-token-of-ann'));
    const second = await connect(transport('another-token-of-ann'));
    expect(await texts(first, 3, 'hours')).toEqual(Array(3).fill('9 to 17'));
    expect(await texts(second, 3, 'hours')).toEqual([
      '9 to 17',
      '9 to 17',
      expect.stringMatching(/^Too many calls of tools\. Call again in .+, not earlier\.$/),
    ]);
    expect(await texts(await connect(transport('a-token-of-bob')), 1, 'hours')).toEqual(['9 to 17']);
  });

  test('aborts the tools of a client that has left', async () => {
    const leaving = new AbortController();
    const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'slow', arguments: {} } };
    const answer = fetch(url, {
      method: 'POST',
      headers: {
        Authorization: 'Bearer a-token-of-ann',
        Accept: 'application/json, text/event-stream',
        'Content-Type': 'application/json',
      },
      body: JSON.stringify(call),
      signal: leaving.signal,
    });
    answer.catch(() => {});
    await eventually(async () => program.output().includes('slow runs'));
    leaving.abort();
    await eventually(async () => program.output().includes('slow is aborted'));
  });

  test('answers a flood without a valid token with a 429, also its next client', async () => {
    const flood = await Promise.all(
      Array.from({ length: 100 }, () =>
        fetch(url, { method: 'POST', headers: { Authorization: 'Bearer none' } }),
      ),
    );
    const statuses = flood.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
    expect(statuses.filter((status) => status === 401)).toHaveLength(40);
    expect(flood.every(({ headers }) => headers.has('RateLimit'))).toBe(true);
    const denied = flood.find(({ status }) => status === 429);
    expect(denied?.headers.get('Retry-After')).toMatch(/^\d+$/);
    expect(await rejection(connect(transport('a-token-of-ann')))).toMatchObject({ code: 429 });
  });
});
