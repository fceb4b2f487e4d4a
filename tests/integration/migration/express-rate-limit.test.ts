import type { Server } from 'node:http';
import { rateLimit as theirs } from 'express-rate-limit';
import { parseList } from 'structured-headers';
import { rateLimit as ours } from '../../../packages/express/src/index.js';
import { listening, type RateLimit, shop } from './shop.js';

interface Answer {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}
type Ask = (path: string, options?: { address?: string; body?: object }) => Promise<Answer>;

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  }
});

async function visit(rateLimit: RateLimit, script: (ask: Ask) => Promise<unknown>): Promise<unknown> {
  const { url, server } = await listening(shop(rateLimit));
  servers.push(server);
  return script(async (path, { address = '192.0.2.1', body } = {}) => {
    const response = await fetch(url + path, {
      headers: { 'X-Forwarded-For': address, 'Content-Type': 'application/json' },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.text(), headers: response.headers };
  });
}

const VALUES = [
  'ratelimit-policy',
  'ratelimit',
  'ratelimit-limit',
  'ratelimit-remaining',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'content-type',
];

/** If several limits apply, our headers list all policies, theirs only the last. We send a text as plain text, they as HTML. */
const alike = (text: string | undefined) =>
  text
    ?.replace(/reset=\d+/, 'reset=…')
    .replace(/^30;w=900, /, '')
    .replace('text/html', 'text/plain')
    .replace('json; charset=utf-8', 'json');

/** The whole answer, without seconds, which elapse. */
const seen = ({ status, body, headers }: Answer) => ({
  status,
  body,
  values: Object.fromEntries(VALUES.map((name) => [name, alike(headers.get(name) ?? undefined)])),
  present: ['ratelimit-reset', 'x-ratelimit-reset', 'retry-after'].filter((name) => headers.has(name)),
});

async function series(ask: Ask, times: number, ...args: Parameters<Ask>) {
  const answers = [];
  for (let i = 0; i < times; i += 1) answers.push(seen(await ask(...args)));
  return answers;
}

test.each<[string, (ask: Ask) => Promise<unknown>]>([
  ['the limit of all', (ask) => series(ask, 32, '/')],
  [
    'addresses, IPv6 by subnet',
    async (ask) => [
      await series(ask, 1, '/', { address: '2001:db8::1' }),
      await series(ask, 1, '/', { address: '2001:db8:0:ff::2' }),
      await series(ask, 1, '/', { address: '2001:db8:0:100::1' }),
    ],
  ],
  ['skipped routes', (ask) => series(ask, 2, '/health')],
  [
    'failed logins of an account',
    async (ask) => [
      await series(ask, 3, '/login', { body: { account: 'ann', password: 'secret' } }),
      await series(ask, 3, '/login', { body: { account: 'ann', password: 'guess' } }),
      await series(ask, 1, '/login', { body: { account: 'bob', password: 'guess' } }),
    ],
  ],
  ['an answer of its own', (ask) => series(ask, 2, '/search')],
  [
    'numbers of the customer, failures that do not count',
    async (ask) => [
      await series(ask, 2, '/reports?missing'),
      await series(ask, 2, '/reports'),
      await series(ask, 2, '/reports?plan=premium', { address: '192.0.2.9' }),
      await series(ask, 1, '/reports?plan=premium', { address: '192.0.2.9' }),
    ],
  ],
])('clients get the same answers with only the import changed: %s', async (_, script) => {
  const answers = await visit(ours, script);
  expect(answers).toEqual(await visit(theirs, script));
});

test('draft 8 has the same items, with a plain identifier and optional pk on our side', async () => {
  const items = async (ask: Ask) => {
    const { headers } = await ask('/quotas');
    return ['ratelimit-policy', 'ratelimit'].map((name) => {
      const [identifier, parameters] = parseList(headers.get(name)!).at(-1)!;
      const { pk, t, ...rest } = Object.fromEntries(parameters);
      return [identifier, rest];
    });
  };
  expect(await visit(ours, items)).toEqual(await visit(theirs, items));
});
