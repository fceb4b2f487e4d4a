import { type ClientHttp2Session, connect as connect2 } from 'node:http2';
import { connect } from 'node:net';
import { fixedWindow, RateLimiter } from '../../packages/core/src/index.js';
import { Rules } from '../../packages/rules/src/index.js';
import type { Framework, Running } from '../contracts/adapters/frameworks/framework.js';

/** Request targets instead of a path. Each reaches a handler in some version of some router. */
export const TARGETS = [
  '/v1/login',
  '/v1/login/',
  '/V1/Login',
  '/v1/%6Cogin',
  '/v1%2Flogin',
  '/v1%2flogin',
  '/v1/login?x=/../..',
  '/v1/login#x',
  '/v1/login;x',
  '/v1/login%3Bx',
  '/v1/login%3Fx',
  '/v1/login%23x',
  '//v1/login',
  '//a/v1/login',
  '/v1//login',
  '/v1/./login',
  '/v1/x/../login',
  '/v1/%2e%2E/v1/login',
  '/v1\\login',
  '/v1\\login#',
  '/http://a/v1/login',
  'http://a/v1/login',
  'http://a/v1/login?b#c',
  'http://a//v1/login',
  'HTTP://a/v1/login',
  'https://a/v1/login',
  'HttpS://a/v1/login',
  'ws://a/v1/login',
  'x://a/v1/login',
  'http://u:p@a:80/v1/login',
  'http://[::1]:80/v1/login',
  'http://a;b/v1/login',
  'http://a%zz/v1/login',
  'http://a\\b/v1/login',
  'http://a?b/v1/login',
  'http://a#b/v1/login',
  'http://a?/v1/login',
  'http:///v1/login',
  'http://a/x/v1/login',
  'http://a/http://b/v1/login',
  'http://a?http://b/v1/login',
  'http://a',
  'http://a?b',
  'http://',
  '*',
  '*v1/login',
  '*?/v1/login',
  '*://a/v1/login',
  'a:443',
  'v1/login',
  'xv1/login',
  '?/v1/login',
  '',
  '/',
  '/?/v1/login',
  '/#/v1/login',
  '/search',
  '/search/',
  '/SEARCH/a',
  '/search?/../..',
  '/search#/../..',
  '/search%2F..%2F',
  '/search//..//..',
  '/search/../x',
  '/search/./../x',
  '/search/%2e%2E/x',
  '/search/../health',
  '/search/%2e./health',
  '/search\\..\\x#',
  '/search/..\\..\\x#',
  '/%73earch/../x',
  'http://any/search/../x',
  'http://any?x/search/y',
  '*search/x',
];

const DOCUMENT = `
rules:
  - { name: login, match: { path: /v1/login }, limit: { fixedWindow: { limit: 1000, window: 1h } } }
  - { name: search, match: { path: /search/* }, limit: { fixedWindow: { limit: 1000, window: 1h } } }
  - { name: root, match: { path: / }, limit: { fixedWindow: { limit: 1000, window: 1h } } }
  - { name: health, match: { path: /health }, unlimited: true }
`;

/** The one path of a handler; `search` has many. */
const PATHS: Readonly<Record<string, string>> = { login: '/v1/login', root: '/' };

/** Serves the handlers of `PATHS` behind two limits, until `close`. */
export async function serveTargets(serve: Framework['serve'], http2 = false): Promise<Running> {
  // Its header shows the path by which a request was counted: `pk` is a digest of the key.
  const limiter = new RateLimiter({ name: 'path', policy: fixedWindow({ limit: 1_000, window: '1h' }) });
  const rules = new Rules(DOCUMENT);
  const { url, close } = await serve({
    limits: [{ limiter, key: '#{path}', partitionKey: true }, { rules }],
    pages: { '/v1/login': 'handled login', '/search/*': 'handled search', '/': 'handled root' },
    http2,
  });
  return {
    url,
    close: async () => {
      await close();
      await limiter.close();
      await rules.close();
    },
  };
}

interface Answer {
  readonly body: string;
  readonly limits: string;
}

/** Sends a target as written: `fetch` and `http.request` would not send all of them. */
const ask1 = (port: string, target: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(port), '127.0.0.1', () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
    });
    socket.on('data', (chunk) => (text += chunk)).once('error', reject);
    socket.once('close', () => {
      const [head = '', body = ''] = text.split('\r\n\r\n');
      resolve({ body, limits: /^ratelimit: (.*)$/im.exec(head)?.[1] ?? '' });
    });
  });

/** With a scheme other than `http`, Node accepts any text as a path. */
const ask2 = (session: ClientHttp2Session, target: string): Promise<Answer> =>
  new Promise((resolve) => {
    const answer = { body: '', limits: '' };
    const stream = session.request({ ':path': target, ':scheme': target.startsWith('/') ? 'http' : 'x' });
    stream.on('response', ({ ratelimit }) => (answer.limits = String(ratelimit)));
    stream.on('data', (chunk) => (answer.body += chunk)).on('error', () => {}); // refused by Node
    stream.once('close', () => resolve(answer));
  });

/** Sends each target. @returns targets that reached a handler, and among them targets that its limit did not count */
export async function reached(url: string, http2 = false) {
  const session = http2 ? connect2(url) : undefined;
  const ask = (target: string) => (session ? ask2(session, target) : ask1(new URL(url).port, target));
  const digest = ({ limits }: Answer) => /"path".*?pk=(:[^:]+:)/.exec(limits)?.[1] ?? 'none';
  const digests = new Map<string, string>();
  for (const [name, path] of Object.entries(PATHS)) digests.set(name, digest(await ask(path)));
  const found: string[] = [];
  const uncounted: string[] = [];
  await Promise.all(
    TARGETS.map(async (target) => {
      const answer = await ask(target);
      const name = /handled (\w+)/.exec(answer.body)?.[1];
      if (name === undefined) return;
      found.push(target);
      const counted = digest(answer) === (digests.get(name) ?? digest(answer));
      if (!counted || !answer.limits.includes(`"rules.${name}"`)) uncounted.push(`${target} at ${name}`);
    }),
  );
  session?.close();
  return { found, uncounted };
}
