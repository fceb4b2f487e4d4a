import { createRequire } from 'node:module';
import { join } from 'node:path';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

interface Client {
  on(event: string, listener: (...args: never[]) => void): void;
  send(text: string): void;
}

let modules: string;
let program: Program;
let WebSocket: new (url: string) => Client;
beforeAll(async () => {
  modules = await recipePackages();
  WebSocket = createRequire(join(modules, 'ws/package.json'))('ws');
}, 300_000);
afterEach(() => program?.stop());

/** Connects, and sends messages. @returns the answers, then the code and the reason of the end, or the status of the handshake */
function talk(messages: number): Promise<{ answers: string[]; end: unknown[] }> {
  return new Promise((resolve) => {
    const answers: string[] = [];
    const client = new WebSocket(program.url.replace('http', 'ws'));
    client.on('open', () => {
      for (let i = 1; i <= messages; i += 1) client.send(String(i));
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
  program = await startBlock('docs/recipes/websocket.md', 'websocket', { modules });
  const first = await talk(60);
  expect(first.end).toEqual([1008, 'Too many messages']);
  expect(first.answers.length).toBeGreaterThanOrEqual(20);
  expect(first.answers).toEqual(first.answers.map((_, i) => `echo: ${i + 1}`));
  for (let i = 2; i <= 5; i += 1) expect((await talk(60)).end[0]).toBe(1008);
  expect((await talk(1)).end).toEqual([429, expect.stringMatching(/^[1-9]\d?$/)]);
});

test('a thousand sockets that flood get no more answers than the limit, and are all closed with 1008', async () => {
  const replace = {
    ...{ 'limit: 5': 'limit: 1000', "every: '1s'": "every: '1h'" },
    // On a busy machine a thousand sockets block the event loop for longer than the usual deadline.
    'policy: ': "deadline: '30s', policy: ",
  };
  program = await startBlock('docs/recipes/websocket.md', 'websocket', { modules, replace });
  const ends = await Promise.all(Array.from({ length: 1000 }, () => talk(21)));
  expect(ends.flatMap(({ answers }) => answers)).toHaveLength(20);
  expect(new Set(ends.map(({ end }) => end[0]))).toEqual(new Set([1008]));
  expect((await talk(1)).end[0]).toBe(429);
  expect(await (await fetch(program.url)).text()).toBe('connect with WebSocket');
  expect(program.output()).toBe('');
});
