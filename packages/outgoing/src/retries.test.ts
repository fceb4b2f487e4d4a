import { refused, retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import {
  atlassianHeaders,
  githubHeaders,
  hubspotHeaders,
  openaiHeaders,
  standardHeaders,
  stripeHeaders,
} from './index.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

/** How often a call is sent whose first answers are these. */
async function sends(
  answers: readonly (Response | Error)[],
  init: RequestInit = {},
  options: Parameters<ScriptedUpstream['client']>[0] = {},
): Promise<number> {
  up.answer = ({ number }) =>
    answers[number - 1]?.constructor === Response
      ? (answers[number - 1] as Response).clone()
      : (answers[number - 1] ?? new Response('ok'));
  const call = up
    .client(options)
    .fetch('/a', init)
    .catch(() => {});
  await up.clock.advance('1m');
  await call;
  return up.log.length;
}

const lost = () => new TypeError('fetch failed');

describe('repeated calls', () => {
  const stream = () => new Blob(['x']).stream();
  test.each<[string, number, (Response | Error)[], RequestInit]>([
    ['a GET after 503', 2, [refused(503)], {}],
    ['a GET after a connection error', 2, [lost()], {}],
    ['a PUT with a text after 502', 2, [refused(502)], { method: 'PUT', body: 'x' }],
    ['a POST after 502', 1, [refused(502)], { method: 'POST', body: 'x' }],
    ['a POST after a connection error', 1, [lost()], { method: 'POST', body: 'x' }],
    [
      'a POST with an idempotency key after 502',
      2,
      [refused(502)],
      { method: 'POST', headers: { 'Idempotency-Key': '1' } },
    ],
    ['a POST after 429 without a time', 1, [refused(429)], { method: 'POST' }],
    ['a POST after 429 with Retry-After', 2, [retryAfter(1)], { method: 'POST', body: 'x' }],
    ['a POST after 503 with Retry-After', 2, [refused(503, { 'retry-after': '1' })], { method: 'POST' }],
    [
      'a stream after 429 with Retry-After',
      1,
      [retryAfter(1)],
      { method: 'POST', body: stream(), duplex: 'half' } as RequestInit,
    ],
    ['a GET after 500', 1, [refused(500)], {}],
    ['a GET after 404', 1, [refused(404)], {}],
    ['a GET that fails each time', 3, [refused(503), refused(503), refused(503)], {}],
  ])('%s is sent %i times', async (_, count, answers, init) => {
    expect(await sends(answers, init)).toBe(count);
  });
});

test('pi #6912: a quota that is used up is never retried', async () => {
  const openai = '{"error":{"code":"insufficient_quota"}}';
  expect(await sends([refused(429, { 'retry-after': '1' }, openai)], {}, { reads: [openaiHeaders] })).toBe(1);
  const hubspot = '{"policyName":"DAILY"}';
  up.log.length = 0;
  expect(await sends([refused(429, {}, hubspot)], {}, { reads: [hubspotHeaders], name: 'hubspot' })).toBe(1);
});

test('Stripe-Should-Retry decides before the status', async () => {
  const no = refused(429, { 'stripe-should-retry': 'false' });
  const yes = refused(429, { 'stripe-should-retry': 'true' });
  expect(await sends([no], {}, { reads: [stripeHeaders] })).toBe(1);
  up.log.length = 0;
  expect(await sends([yes], { method: 'POST' }, { reads: [stripeHeaders], name: 'stripe' })).toBe(2);
});

describe('a refusal of one call alone with a stated time', () => {
  const options = { reads: [atlassianHeaders] };
  const busy = (seconds: number) =>
    refused(429, { 'retry-after': String(seconds), 'ratelimit-reason': 'jira-per-issue-on-write' });

  test('is repeated at that time, and pauses nothing', async () => {
    up.answer = ({ number }) => (number === 1 ? busy(10) : new Response('ok'));
    const client = up.client(options);
    const call = client.fetch('/a', { method: 'POST' });
    await up.clock.advance('1s');
    expect(await client.state()).toEqual([]);
    await up.clock.advance('20s');
    expect((await call).status).toBe(200);
    const [, again] = up.times;
    expect(again).toBeGreaterThanOrEqual(10_000);
    expect(again).toBeLessThanOrEqual(11_000); // the delay of a first retry
  });

  test('is the result if the time is past the timeout', async () => {
    up.answer = () => busy(31);
    expect((await up.client(options).fetch('/a')).status).toBe(429);
    expect(up.log).toHaveLength(1);
  });
});

test.each<[number, string, number[], Response]>([
  [1, '429 that is not listed', [502], retryAfter(1)],
  [1, '503 of an empty list', [], refused(503)],
  [1, '529 that is not listed', [429, 502], refused(529, { 'retry-after': '1' })],
  [2, '429 that is listed', [429], retryAfter(1)],
  [2, '502 that is listed', [502], refused(502)],
  [
    2,
    '403 of a secondary limit',
    [],
    refused(403, { 'retry-after': '1' }, '{"message":"secondary rate limit"}'),
  ],
])('retry.statuses: a GET is sent %i times after %s', async (count, _, statuses, answer) => {
  expect(await sends([answer], {}, { retry: { statuses }, reads: [githubHeaders, standardHeaders()] })).toBe(
    count,
  );
});

test('a body is sent again whole', async () => {
  await sends([retryAfter(1)], { method: 'POST', body: new URLSearchParams({ a: 'b' }) });
  expect(up.log.map(({ body }) => body)).toEqual(['a=b', 'a=b']);
});

test('all processes take retries from one budget, and successes give it back', async () => {
  up.answer = () => refused(503);
  const retry = { attempts: 10, budget: { tokens: 30, retry: 5 } };
  const calls = Array.from({ length: 12 }, () => up.client({ retry, timeout: '10s' }).fetch('/a'));
  await up.clock.advance('9s');
  await Promise.all(calls);
  // 30 tokens are six retries; one a second comes back by time.
  expect(up.log.length - 12).toBeLessThanOrEqual(6 + 9);
  expect(up.log.length - 12).toBeGreaterThanOrEqual(6);
});

test.each([502, 504])('a call is repeated after %i no earlier than its Retry-After', async (status) => {
  up.answer = ({ number }) => (number === 1 ? refused(status, { 'retry-after': '20' }) : new Response('ok'));
  const call = up.client().fetch('/a');
  await up.clock.advance('1m');
  expect((await call).status).toBe(200);
  const [, again] = up.times;
  expect(again).toBeGreaterThanOrEqual(20_000);
  expect(again).toBeLessThanOrEqual(21_000); // the delay of a first retry
});

test('a call waits no longer than maxPause for the Retry-After of a 502', async () => {
  up.answer = ({ number }) => (number === 1 ? refused(502, { 'retry-after': '3000' }) : new Response('ok'));
  const call = up.client({ timeout: '1h', maxPause: '10s' }).fetch('/a');
  await up.clock.advance('11s');
  expect((await call).status).toBe(200);
});

test('retry: false sends a call once, and the refusal still pauses', async () => {
  expect(await sends([retryAfter(5)], {}, { retry: false })).toBe(1);
});

test('no attempt starts after the timeout, and a signal ends the pause between attempts', async () => {
  up.answer = () => refused(503);
  const abort = new AbortController();
  const call = rejection(up.client().fetch('/a', { signal: abort.signal }));
  await up.clock.advance(1);
  abort.abort(new Error('enough'));
  // At once: the clock stands still.
  expect(String(await call)).toBe('Error: enough');
  await up.clock.advance('1m');
  expect(up.log).toHaveLength(1);
  up.log.length = 0;
  const late = up.client({ timeout: 0, name: 'late' }).fetch('/a');
  await up.clock.advance('1m');
  expect((await late).status).toBe(503);
  expect(up.log.length).toBeLessThanOrEqual(2);
});
