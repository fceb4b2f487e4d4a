import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { connect, type Socket } from 'node:net';
import { join, resolve } from 'node:path';
import { eventually } from '../../support/eventually.js';
import { blockTagged } from '../docs/markdown.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

interface Client {
  on(event: string, listener: (...args: never[]) => void): void;
  send(text: string): void;
  terminate(): void;
}

const PAGE = 'docs/recipes/websocket.md';
const file = resolve(__dirname, '../../..', PAGE);

let modules: string;
let program: Program;
let WebSocket: new (url: string) => Client;
beforeAll(async () => {
  modules = await recipePackages();
  WebSocket = createRequire(join(modules, 'ws/package.json'))('ws');
}, 300_000);
afterEach(() => program?.stop());

/** Connects, and sends messages. @returns the answers, then the code and the reason of the end, or the status of the handshake */
function talk(
  messages: number,
  textOf: (i: number) => string = String,
): Promise<{ answers: string[]; end: unknown[] }> {
  return new Promise((resolve) => {
    const answers: string[] = [];
    const client = new WebSocket(program.url.replace('http', 'ws'));
    client.on('open', () => {
      for (let i = 1; i <= messages; i += 1) client.send(textOf(i));
    });
    client.on('message', (data: Buffer) => answers.push(String(data)));
    client.on('close', (code: number, reason: Buffer) => resolve({ answers, end: [code, String(reason)] }));
    client.on('error', () => {});
    client.on('unexpected-response', (_: unknown, { statusCode, headers }: never) => {
      resolve({ answers, end: [statusCode, headers['retry-after']] });
    });
  });
}

test('a connection that sends too fast is closed with 1008, and later handshakes get a 429', async () => {
  program = await startBlock(PAGE, 'websocket', { modules });
  const first = await talk(60);
  expect(first.end).toEqual([1008, 'Too many messages']);
  expect(first.answers.length).toBeGreaterThanOrEqual(20);
  expect(first.answers).toEqual(first.answers.map((_, i) => `echo: ${i + 1}`));
  for (let i = 2; i <= 5; i += 1) expect((await talk(60)).end[0]).toBe(1008);
  expect((await talk(1)).end).toEqual([429, expect.stringMatching(/^[1-9]\d?$/)]);
});

test('a thousand sockets that flood get no more answers than the limit, and are all closed with 1008', async () => {
  const replace = { 'limit: 5': 'limit: 1000', "every: '1s'": "every: '1h'", "window: '1m'": "window: '1h'" };
  program = await startBlock(PAGE, 'websocket', { modules, replace });
  const ends = await Promise.all(Array.from({ length: 1000 }, () => talk(21)));
  expect(ends.flatMap(({ answers }) => answers)).toHaveLength(20);
  expect(new Set(ends.map(({ end }) => end[0]))).toEqual(new Set([1008]));
  expect((await talk(1)).end[0]).toBe(429);
  expect(await (await fetch(program.url)).text()).toBe('connect with WebSocket');
  expect(program.output()).toBe('');
}, 180_000);

test('a denied handshake does not keep its socket, also if the client keeps its side open', async () => {
  const replace = {
    'server.listen':
      "setInterval(() => server.getConnections((_, open) => console.log('open', open)), 50);\nserver.listen",
  };
  program = await startBlock(PAGE, 'websocket', { modules, replace });
  const { port } = new URL(program.url);
  const sockets: Socket[] = [];
  const statuses: string[] = [];
  for (let i = 0; i < 25; i += 1) {
    const socket = connect({ port: Number(port), host: '127.0.0.1', allowHalfOpen: true });
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (data) => statuses.push(String(data).split(' ')[1]!));
    const key = 'dGhlIHNhbXBsZSBub25jZQ==';
    socket.write(
      `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
    );
  }
  try {
    await eventually(async () => statuses.length === 25);
    expect(statuses.filter((status) => status === '429')).toHaveLength(20);
    await eventually(async () => program.output().trim().split('\n').at(-1) === 'open 5');
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

test('a client that has reset its connection, and so has no address, does not end the program', async () => {
  const replace = { 'request.socket': '({} as { remoteAddress?: string })' };
  program = await startBlock(PAGE, 'websocket', { modules, replace });
  expect((await talk(1)).end[0]).toBe(1006);
  expect(await (await fetch(program.url)).text()).toBe('connect with WebSocket');
  expect(program.output()).toBe('');
});

test('a kind of message that the client makes up costs as much as any other', async () => {
  const row = /^\| a limit for each kind of message \| `(messages\.consume\(.*?)`/m.exec(
    readFileSync(file, 'utf8'),
  )![1]!;
  const replace = {
    "every: '1s'": "every: '1h'",
    'messages.consume(address)': row.replaceAll('kind', 'String(data)'),
  };
  program = await startBlock(PAGE, 'websocket', { modules, replace });
  const kinds = (all: readonly string[]) => talk(all.length, (i) => all[i - 1]!);
  const { answers, end } = await kinds(['constructor', 'upload', '__proto__', ...Array(9).fill('toString')]);
  expect([answers.length, end[0]]).toEqual([11, 1008]);
  expect(program.output()).toBe('');
});

describe('with a turn for each message', () => {
  const start = async (options = '') => {
    const text = blockTagged(file, 'websocket');
    const handler = text.slice(text.indexOf("sockets.on('connection'"), text.indexOf('server.listen'));
    const waiting = `${blockTagged(file, 'websocket-wait')}\n`
      .replace(
        "client.on('close', () => left.abort());",
        "client.on('close', () => { console.log('left'); left.abort(); });",
      )
      .replace('client.send(', "console.log('taken');\n        $&");
    const replace = { [handler]: waiting, '  store,\n});': `  store,${options}\n});` };
    program = await startBlock(PAGE, 'websocket', { modules, replace });
  };
  const send = (messages: number) => {
    const client = new WebSocket(program.url.replace('http', 'ws'));
    const answers: string[] = [];
    client.on('open', () => {
      for (let i = 1; i <= messages; i += 1) client.send(String(i));
    });
    client.on('message', (data: Buffer) => answers.push(String(data)));
    client.on('close', (code: number) => answers.push(`closed: ${code}`));
    return { client, answers };
  };

  test('a flood is slowed down, and its messages end with its connection', async () => {
    await start();
    const { client, answers } = send(3000);
    await eventually(async () => answers.length >= 35);
    expect(answers).toEqual(answers.map((_, i) => `echo: ${i + 1}`));
    expect(answers.length).toBeLessThan(100);
    client.terminate();
    await eventually(async () => program.output().includes('left'));
    const next = send(20);
    const taken = () => program.output().split('left\n');
    await eventually(async () => next.answers.length === 20 && /(?:taken\n){20}/.test(taken()[1]!));
    // Of the client that left, at most the message whose permit was on its way takes one.
    expect(taken()).toEqual([
      expect.stringMatching(/^(?:taken\n){35,99}$/),
      expect.stringMatching(/^(?:taken\n){20,21}$/),
    ]);
    next.client.terminate();
  });

  test('a call that may not wait closes its connection with 1011 and prints one error', async () => {
    await start(' maxWaiting: 0,');
    const { answers } = send(3000);
    await eventually(async () => answers.includes('closed: 1011'));
    expect(answers.slice(0, -1)).toEqual(answers.slice(0, -1).map((_, i) => `echo: ${i + 1}`));
    expect(program.output().match(/RateLimitExceededError/g)).toHaveLength(1);
  });
});
