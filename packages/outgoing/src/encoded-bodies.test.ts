import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { githubHeaders, openaiHeaders, type UpstreamOptions } from './index.js';
import type { Controller, Handler } from './undici/attempt.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

interface Reply {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Uint8Array | string;
  /** The body never ends. */
  readonly stalls?: boolean;
}

/** How often a request is sent through the interceptor, what its caller gets, and the pauses after half a second. */
async function dispatch(options: Partial<UpstreamOptions>, reply: (number: number) => Reply, path = '/a') {
  const client = up.client(options);
  const controller: Controller = { pause() {}, resume() {}, abort() {} };
  const received: unknown[] = [];
  let sent = 0;
  const send = client.interceptor()((_: object, handler: Handler) => {
    sent += 1;
    const { status, headers, body, stalls } = reply(sent);
    handler.onRequestStart?.(controller, {});
    handler.onResponseStart?.(controller, status, headers);
    handler.onResponseData?.(controller, Buffer.from(body as string));
    if (!stalls) handler.onResponseEnd?.(controller, {});
    return true;
  });
  send(
    { origin: client.origin, path, method: 'GET' },
    {
      onResponseStart: (_, status) => void received.push(status),
      onResponseData: (_, chunk) => void received.push(chunk),
      onResponseError: (_, error) => void received.push(error),
    },
  );
  await up.clock.advance('500ms');
  const state = await client.state();
  await up.clock.advance('5s');
  return { sent, received, state };
}

const QUOTA = '{"error":{"code":"insufficient_quota"}}';
const OPENAI = { reads: [openaiHeaders] };
const refusal = (coding: string, body: Uint8Array | string): Reply => ({
  status: 429,
  headers: { 'retry-after': '1', 'content-type': 'application/json', 'content-encoding': coding },
  body,
});

describe('the interceptor of undici gets bodies as they were sent', () => {
  test.each<[string, Uint8Array | string]>([
    ['gzip', gzipSync(QUOTA)],
    ['X-GZIP', gzipSync(QUOTA)],
    ['deflate', deflateSync(QUOTA)],
    ['deflate', deflateRawSync(QUOTA)],
    ['br', brotliCompressSync(QUOTA)],
    ['gzip, br', brotliCompressSync(gzipSync(QUOTA))],
    ['identity', QUOTA],
  ])(
    'a quota in a body of content-encoding %s is read, is not retried, and arrives as it was',
    async (coding, body) => {
      const { sent, received, state } = await dispatch(OPENAI, () => refusal(coding, body));
      expect([sent, received]).toEqual([1, [429, Buffer.from(body as string)]]);
      expect(state).toMatchObject([{ scope: 'account', kind: 'quota', reason: 'insufficient_quota' }]);
    },
  );

  test.each<[string, string, Uint8Array | string]>([
    ['is broken', 'gzip', gzipSync(QUOTA).subarray(0, -12)],
    ['is not encoded at all', 'gzip', QUOTA],
    ['is empty', 'br', ''],
    ['is encoded in an unknown way', 'constructor', QUOTA],
    ['is encoded too often', 'gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzipSync(QUOTA))))],
    ['expands beyond 64 KiB', 'gzip', gzipSync(QUOTA + ' '.repeat(65_536))],
    ['is a bomb', 'gzip, gzip', gzipSync(gzipSync(Buffer.alloc(50_000_000)))],
  ])('a body that %s counts as none: the status and the headers decide', async (_, coding, body) => {
    const memory = process.memoryUsage().arrayBuffers;
    const answers = (number: number) =>
      number === 1 ? refusal(coding, body) : { status: 200, headers: {}, body: 'ok' };
    const { sent, received } = await dispatch(OPENAI, answers);
    expect([sent, received]).toEqual([2, [200, Buffer.from('ok')]]);
    expect(process.memoryUsage().arrayBuffers - memory).toBeLessThan(20_000_000);
  });

  test('a secondary limit of GitHub in gzip pauses the account, though it states no time', async () => {
    const body = gzipSync('{"message":"You have exceeded a secondary rate limit."}');
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'gzip' };
    const { state } = await dispatch({ reads: [githubHeaders] }, () => ({ status: 403, headers, body }));
    expect(state).toMatchObject([{ scope: 'account', reason: 'secondary rate limit' }]);
  });
});

describe('the interceptor of undici reads a success of services that refuse with one', () => {
  const json = { 'content-type': 'application/json' };
  const throttled = JSON.stringify({
    errors: [{ extensions: { code: 'THROTTLED' } }],
    extensions: {
      cost: {
        requestedQueryCost: 100,
        throttleStatus: { maximumAvailable: 1000, currentlyAvailable: 0, restoreRate: 50 },
      },
    },
  });
  const shopify = { origin: 'https://shop.myshopify.com', timeout: '10s' };
  const graphql = '/admin/api/2026-10/graphql.json';
  const ok = '{"data":{}}';

  test.each<[string, Record<string, string>, Uint8Array | string]>([
    ['plain', json, throttled],
    ['in gzip', { ...json, 'content-encoding': 'gzip' }, gzipSync(throttled)],
  ])('THROTTLED of Shopify, %s, pauses its budget and is repeated', async (_, headers, body) => {
    const answers = (number: number) =>
      number === 1 ? { status: 200, headers, body } : { status: 200, headers: json, body: ok };
    const { sent, received } = await dispatch(shopify, answers, graphql);
    expect([sent, received]).toEqual([2, [200, Buffer.from(ok)]]);
  });

  test('ratelimited of Slack pauses', async () => {
    const headers = { ...json, 'retry-after': '60' };
    const body = '{"ok":false,"error":"ratelimited"}';
    const { state } = await dispatch({ origin: 'https://slack.com' }, () => ({ status: 200, headers, body }));
    expect(state).toHaveLength(1);
  });

  test.each<[string, Record<string, string>, string, boolean]>([
    ['is no text', { 'content-type': 'image/png' }, 'pixels', true],
    ['is long by its header', { ...json, 'content-length': '65537' }, '{', true],
    ['is long', json, ' '.repeat(65_537), true],
    ['stalls', json, '{', true],
  ])(
    'a success whose body %s is passed on, at the latest after a second',
    async (_, headers, body, stalls) => {
      const { sent, received } = await dispatch(shopify, () => ({ status: 200, headers, body, stalls }));
      expect([sent, received]).toEqual([1, [200, Buffer.from(body)]]);
    },
  );

  test('other services pass a success on before its body', async () => {
    const client = up.client();
    const received: unknown[] = [];
    const controller: Controller = { pause() {}, resume() {}, abort() {} };
    const send = client.interceptor()((_: object, handler: Handler) => {
      handler.onRequestStart?.(controller, {});
      handler.onResponseStart?.(controller, 200, json);
      return true;
    });
    send(
      { origin: client.origin, path: '/a', method: 'GET' },
      { onResponseStart: (_, status) => void received.push(status) },
    );
    await up.clock.advance(1);
    expect(received).toEqual([200]);
  });
});
