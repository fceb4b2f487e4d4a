import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Nginx, startNginx } from '../../support/nginx.js';
import { type Program, startBlock } from './program.js';

const page = 'docs/recipes/proxies-by-name.md';

let program: Program | undefined;
let nginx: Nginx | undefined;
afterEach(async () => {
  await nginx?.stop();
  await program?.stop();
  nginx = undefined;
});

/** Sends requests with these headers one after the other. @returns the address that the limit counts, or the status of a denial */
async function countedAs(url: string, requests: readonly Record<string, string>[]): Promise<string[]> {
  const results: string[] = [];
  for (const headers of requests) {
    const response = await fetch(url, { headers });
    results.push(response.ok ? await response.text() : String(response.status));
  }
  return results;
}

test('behind nginx, a client cannot choose its address', async () => {
  program = await startBlock(page, 'nginx');
  const text = readFileSync(resolve(__dirname, '../../..', page), 'utf8');
  const [, configuration] = /^```nginx proxy\n([\s\S]*?)^```$/m.exec(text)!;
  // startNginx takes the last address of X-Forwarded-For for the client's connection.
  nginx = await startNginx(configuration!.replace('http://127.0.0.1:3000', program.url));
  const from = (...addresses: string[]) => ({ 'X-Forwarded-For': addresses.join(', ') });
  expect(
    await countedAs(nginx.url, [
      from('192.0.2.7'),
      from('203.0.113.9', '192.0.2.7'),
      from('203.0.113.8', '192.0.2.7'),
      from('192.0.2.8'),
    ]),
  ).toEqual(['192.0.2.7', '192.0.2.7', '429', '192.0.2.8']);
});

const recorded: Record<string, readonly (readonly [headers: Record<string, string>, counted: string])[]> = {
  alb: [
    [
      { 'X-Forwarded-For': '192.0.2.7', 'X-Forwarded-Port': '443', 'X-Forwarded-Proto': 'https' },
      '192.0.2.7',
    ],
    [{ 'X-Forwarded-For': '203.0.113.9, 192.0.2.7' }, '192.0.2.7'],
    [{ 'X-Forwarded-For': '203.0.113.8, 192.0.2.7' }, '429'],
    [{ 'X-Forwarded-For': '2001:db8:1:2::7' }, '2001:db8:1:2::7'],
  ],
  cloudflare: [
    [
      { 'CF-Connecting-IP': '192.0.2.7', 'CF-Ray': '230b030023ae2822-SJC', 'X-Forwarded-For': '192.0.2.7' },
      '192.0.2.7',
    ],
    [{ 'CF-Connecting-IP': '192.0.2.7', 'X-Forwarded-For': '203.0.113.9,192.0.2.7' }, '192.0.2.7'],
    [{ 'CF-Connecting-IP': '192.0.2.7', 'X-Forwarded-For': '203.0.113.8,192.0.2.7' }, '429'],
    [{ 'CF-Connecting-IP': '2001:db8:1:2::7' }, '2001:db8:1:2::/64'],
  ],
  fly: [
    [
      { 'Fly-Client-IP': '192.0.2.7', 'X-Forwarded-For': '192.0.2.7, 66.241.124.1', 'Fly-Region': 'fra' },
      '192.0.2.7',
    ],
    [
      { 'Fly-Client-IP': '192.0.2.7', 'X-Forwarded-For': '203.0.113.9, 192.0.2.7, 66.241.124.1' },
      '192.0.2.7',
    ],
    [{ 'Fly-Client-IP': '192.0.2.7', 'X-Forwarded-For': '203.0.113.8, 192.0.2.7, 66.241.124.1' }, '429'],
    [{ 'Fly-Client-IP': '192.0.2.8', 'X-Forwarded-For': '192.0.2.8, 66.241.124.1' }, '192.0.2.8'],
  ],
};

test.each(Object.entries(recorded))(
  'with the headers of %s, each client has its own count',
  async (tag, requests) => {
    program = await startBlock(page, tag);
    const headers = requests.map(([sent]) => sent);
    // `startBlock` has sent one request to see that the program listens, under its own address.
    expect(await countedAs(program.url, headers)).toEqual(requests.map(([, counted]) => counted));
    expect(program.output()).toBe('');
  },
);
