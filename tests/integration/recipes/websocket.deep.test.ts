import { createRequire } from 'node:module';
import { join } from 'node:path';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

interface Client {
  on(event: string, listener: (...args: never[]) => void): void;
  send(text: string): void;
}

let program: Program;
let WebSocket: new (url: string) => Client;
beforeAll(async () => {
  const modules = await recipePackages();
  WebSocket = createRequire(join(modules, 'ws/package.json'))('ws');
  program = await startBlock('docs/recipes/websocket.md', 'websocket', { modules });
}, 300_000);
afterAll(() => program?.stop());

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
  const first = await talk(60);
  expect(first.end).toEqual([1008, 'Too many messages']);
  expect(first.answers.length).toBeGreaterThanOrEqual(20);
  expect(first.answers).toEqual(first.answers.map((_, i) => `echo: ${i + 1}`));
  for (let i = 2; i <= 5; i += 1) expect((await talk(60)).end[0]).toBe(1008);
  expect((await talk(1)).end).toEqual([429, expect.stringMatching(/^[1-9]\d?$/)]);
});
