import { type PauseMessage, subscribe } from '@sluice/core';
import { StoreHealth } from '@sluice/core/internal';
import { farStore } from '../../../tests/support/far-store.js';
import { refused, retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { githubHeaders, isUpstreamPausedError, standardHeaders, UpstreamPausedError } from './index.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

const statuses = async (calls: readonly Promise<Response>[]) =>
  (await Promise.all(calls)).map(({ status }) => status);
const times = <T>(count: number, work: (i: number) => T) => Array.from({ length: count }, (_, i) => work(i));
/** Account-wide: what a service says whose limits concern the account. */
const account = { reads: [standardHeaders({ scope: 'account' })] };

test('a 429 with Retry-After pauses its endpoint in every process, and nothing else', async () => {
  up.answer = ({ number }) => (number === 1 ? retryAfter(10) : new Response('ok'));
  const [one, other] = [up.client(), up.client()];
  const first = one.fetch('/search');
  await up.clock.advance(0.001);
  const same = other.fetch('/search');
  const elsewhere = await other.fetch('/items');
  expect(elsewhere.status).toBe(200);
  expect(await one.state()).toMatchObject([
    { scope: 'endpoint', reason: 'HTTP 429', status: 429, stored: true },
  ]);
  await up.clock.advance('9s');
  expect(up.paths).toBe('/search /items');
  await up.clock.advance('2s');
  expect(await statuses([first, same])).toEqual([200, 200]);
});

test('a 429 of Airtable pauses its base for 30 s, whatever the table and the method, and no other base', async () => {
  const [base, otherBase] = ['/v0/app1A2b3C4d5E6f7G', '/v0/app9Z8y7X6w5V4u3T'];
  up.answer = ({ number }) => (number === 1 ? refused(429) : new Response('ok'));
  const client = up.client({ origin: 'https://api.airtable.com', timeout: '1m' });
  const first = client.fetch(`${base}/Tasks`);
  await up.clock.advance(1);
  const sameBase = client.fetch(`${base}/People`, { method: 'POST', body: '{}' });
  const elsewhere = client.fetch(`${otherBase}/Tasks`);
  await up.clock.advance(1);
  expect(up.paths).toBe(`${base}/Tasks ${otherBase}/Tasks`);
  expect(await client.state()).toMatchObject([{ scope: 'endpoint', reason: 'HTTP 429' }]);
  await up.clock.advance('31s');
  expect(await statuses([first, sameBase, elsewhere])).toEqual([200, 200, 200]);
  expect(up.times.slice(2).every((at) => at >= 30_000)).toBe(true);
});

test('teamclaude #288: a refusal of one kind of request without a time pauses no account, and holds no other kind up', async () => {
  up.answer = ({ path }) => (path === '/batches' ? refused(429) : new Response('ok'));
  const client = up.client({ retry: false });
  expect((await client.fetch('/batches', { method: 'POST' })).status).toBe(429);
  expect(await statuses(times(20, () => client.fetch('/messages', { method: 'POST' })))).toEqual(
    Array(20).fill(200),
  );
  expect((await client.state()).filter(({ scope }) => scope !== 'endpoint')).toEqual([]);
});

test('worldmonitor #6252: while a pause is stored, 76 calls of eight processes send nothing', async () => {
  up.answer = () => retryAfter(3600);
  const clients = times(8, () => up.client(account));
  expect((await clients[0]!.fetch('/events/1')).status).toBe(429);
  const doomed = await Promise.all(times(76, (i) => rejection(clients[i % 8]!.fetch(`/events/${i}`))));
  expect(doomed.every(isUpstreamPausedError)).toBe(true);
  expect(up.log).toHaveLength(1);
});

test('pi #3671: a Retry-After of days is not slept through: the refusal is the result, and later calls reject at once', async () => {
  up.answer = () => retryAfter(3 * 86_400);
  const client = up.client({ ...account, timeout: '20s', maxPause: '1h' });
  expect((await client.fetch('/a')).status).toBe(429);
  const error = (await rejection(client.fetch('/b'))) as UpstreamPausedError;
  expect(error).toBeInstanceOf(UpstreamPausedError);
  expect(error).toMatchObject({
    code: 'SLUICE_UPSTREAM_PAUSED',
    upstream: 'fake',
    scope: 'account',
    reason: 'HTTP 429',
    status: 503,
    headers: { 'Retry-After': '3600' },
  });
  // No pause is longer than maxPause.
  expect(error.until).toBe(up.clock.now() / 1000 + 3_600_000);
  expect(error.message).toBe("Upstream 'fake' is paused for 1 h (account: HTTP 429)");
});

test('pi #4991: a signal ends the wait for a pause at once, and the reason is its own', async () => {
  up.answer = () => retryAfter(20);
  const client = up.client(account);
  const abort = new AbortController();
  const first = rejection(client.fetch('/a', { signal: abort.signal }));
  await up.clock.advance(1);
  const second = rejection(client.fetch('/b', { signal: abort.signal }));
  const reason = new Error('the user left');
  abort.abort(reason);
  expect(await Promise.all([first, second])).toEqual([reason, reason]);
  expect(up.log).toHaveLength(1);
});

test('better-ccflare #271: an overload says nothing of the account, and pauses the service only if it states a time', async () => {
  up.answer = ({ number }) => (number <= 2 ? refused(529) : refused(503, { 'retry-after': '5' }));
  const client = up.client({ retry: false });
  await client.fetch('/a', { headers: { authorization: 'Bearer one' } });
  await client.fetch('/a', { headers: { authorization: 'Bearer one' } });
  expect(await client.state()).toEqual([]);
  await client.fetch('/a');
  expect(await client.state()).toMatchObject([{ scope: 'upstream', key: 'upstream', kind: 'overload' }]);
});

test('litellm #34836: a pause is in force until its last second, whatever later replies say', async () => {
  const replies = [retryAfter(25), retryAfter(1), retryAfter(10)];
  up.answer = async ({ number }) => {
    if (number > 3) return new Response('ok');
    await up.clock.sleep(number * 1000);
    return replies[number - 1]!;
  };
  const client = up.client({ ...account, retry: false });
  const inFlight = times(3, () => client.fetch('/a'));
  await up.clock.advance(10);
  expect(await statuses(inFlight)).toEqual([429, 429, 429]);
  const waiting = client.fetch('/a');
  await up.clock.advance('24900ms');
  expect(up.log).toHaveLength(3);
  await up.clock.advance('200ms');
  expect((await waiting).status).toBe(200);
});

test('octokit #629: accounts pause by themselves, and credentials are not in the store', async () => {
  up.answer = ({ headers }) =>
    headers.get('authorization') === 'Bearer one' ? retryAfter(60) : new Response('ok');
  const client = up.client(account);
  const as = (token: string) => client.fetch('/a', { headers: { Authorization: `Bearer ${token}` } });
  await as('one');
  expect(isUpstreamPausedError(await rejection(as('one')))).toBe(true);
  expect((await as('two')).status).toBe(200);
  const [pause] = await client.state();
  expect(pause!.key).toMatch(/^account:[0-9a-f]{16}$/);
});

test('after a pause one call of all processes goes first, and each success doubles the number at once', async () => {
  up.latency = 100;
  up.answer = ({ number }) => (number === 1 ? retryAfter(5) : new Response('ok'));
  const clients = times(4, () => up.client({ ...account, retry: false }));
  const first = clients[0]!.fetch('/a');
  await up.clock.advance(101);
  await first;
  const calls = times(40, (i) => clients[i % 4]!.fetch('/a'));
  await up.clock.advance('8s');
  expect(await statuses(calls)).toEqual(Array(40).fill(200));
  const starts = new Map<number, number>();
  for (const at of up.times.slice(1)) starts.set(at, (starts.get(at) ?? 0) + 1);
  const waves = [...starts.values()];
  expect(waves.slice(0, 2)).toEqual([1, 2]);
  expect(waves[2]).toBeLessThanOrEqual(4);
  expect([...starts.keys()][0]).toBeGreaterThanOrEqual(5100);
});

test('a refusal of the probe renews the pause, and no other call starts', async () => {
  up.answer = ({ number }) => (number <= 2 ? retryAfter(5) : new Response('ok'));
  const client = up.client({ ...account, retry: false });
  await client.fetch('/a');
  const calls = times(10, () => client.fetch('/a'));
  await up.clock.advance('9s');
  expect(up.log).toHaveLength(2);
  await up.clock.advance('2s');
  expect((await statuses(calls)).sort()).toEqual([...Array(9).fill(200), 429]);
});

test('a probe that fails for another reason lets the next call probe', async () => {
  up.answer = ({ number }) =>
    number === 1 ? retryAfter(5) : number === 2 ? new TypeError('fetch failed') : new Response('ok');
  const client = up.client({ ...account, retry: false });
  await client.fetch('/a');
  const calls = times(3, () => client.fetch('/a').then(({ status }) => status, String));
  await up.clock.advance('6s');
  expect((await Promise.all(calls)).sort()).toEqual([200, 200, 'TypeError: fetch failed']);
});

test('a success that says that nothing is left pauses the budget until its reset, and then needs no probe', async () => {
  const headers = { ratelimit: '"p";r=0;t=5', 'ratelimit-policy': '"p";q=10;w=10' };
  up.answer = ({ number }) => new Response('ok', number === 1 ? { headers } : {});
  up.latency = 50;
  const client = up.client();
  const first = client.fetch('/a');
  await up.clock.advance(51);
  await first;
  expect(await client.state()).toMatchObject([
    { scope: 'dimension', kind: 'exhausted', status: 200, header: 'ratelimit' },
  ]);
  const calls = times(5, () => client.fetch(`/b`));
  await up.clock.advance('6s');
  await Promise.all(calls);
  expect(new Set(up.times.slice(1)).size).toBe(1);
  expect(up.overlap).toBe(5);
});

test('a secondary limit of GitHub pauses for 60 s, and twice as long each time, until a success', async () => {
  const body = '{"message":"You have exceeded a secondary rate limit."}';
  up.answer = ({ number }) => (number <= 2 ? refused(403, {}, body) : new Response('ok'));
  const client = up.client({ reads: [githubHeaders], timeout: '10m', retry: { attempts: 5 } });
  const call = client.fetch('/repos/x/y');
  await up.clock.advance('10m');
  expect((await call).status).toBe(200);
  expect(up.times).toEqual([0, 60_000, 180_000]);
});

test('calls in flight that get the same refusal without a time double its pause once', async () => {
  const body = '{"message":"You have exceeded a secondary rate limit."}';
  up.answer = async ({ number }) => {
    if (number <= 5) await up.clock.sleep(number * 1_000_000);
    return refused(403, {}, body);
  };
  const client = up.client({ reads: [githubHeaders], timeout: '10m', retry: false, concurrency: 10 });
  const inFlight = times(5, () => client.fetch('/repos/x/y').then((response) => response.text()));
  await up.clock.advance('5s');
  await Promise.all(inFlight);
  // 60 s after the last refusal, and 120 s after the refusal of the next call.
  const ends = async () => (await client.state()).map(({ until }) => until - up.clock.now() / 1000);
  expect(await ends()).toEqual([60_000]);
  const next = client.fetch('/repos/x/y').then((response) => response.text());
  await up.clock.advance('60s');
  await next;
  expect(await ends()).toEqual([120_000]);
});

test('while the store is out, each process pauses by itself', async () => {
  const health = new StoreHealth(() => undefined);
  const far = farStore({ health });
  up.answer = () => retryAfter(60);
  const [one, other] = times(2, () => up.client({ ...account, store: far.store, retry: false }));
  far.fail();
  await one!.fetch('/a');
  expect(isUpstreamPausedError(await rejection(one!.fetch('/a')))).toBe(true);
  expect(await one!.state()).toMatchObject([{ stored: false }]);
  await other!.fetch('/a');
  far.mend();
  health.end();
  expect(up.log).toHaveLength(2);
  expect(isUpstreamPausedError(await rejection(one!.fetch('/a')))).toBe(true);
});

test('resume ends a pause for every process, and one call goes first', async () => {
  up.answer = ({ number }) => (number === 1 ? retryAfter(25) : new Response('ok'));
  const [one, other] = [up.client(account), up.client(account)];
  const calls = [one.fetch('/a'), ...times(3, () => other.fetch('/a'))];
  await up.clock.advance('1s');
  const sent = up.log.length;
  await one.resume();
  await up.clock.advance('3s');
  expect((await statuses(calls.slice(1))).every((status) => status === 200)).toBe(true);
  expect(up.log.length).toBeGreaterThan(sent);
  expect(await other.state()).toEqual([]);
});

test('a call that waits for a pause rejects when another process makes it longer than the call can wait', async () => {
  up.answer = async ({ number }) => {
    if (number === 2) await up.clock.sleep(3_000_000);
    return retryAfter(number === 1 ? 10 : 100);
  };
  const [one, other] = [up.client({ ...account, retry: false }), up.client({ ...account, timeout: '30s' })];
  const inFlight = [one.fetch('/a'), one.fetch('/b')];
  await up.clock.advance(1);
  const waiting = rejection(other.fetch('/c'));
  await up.clock.advance('6s');
  expect(isUpstreamPausedError(await waiting)).toBe(true);
  expect(await statuses(inFlight)).toEqual([429, 429]);
  expect(up.log).toHaveLength(2);
});

test('each pause and each resume is a message', async () => {
  const messages: PauseMessage[] = [];
  const stop = subscribe('sluice:pause', (message) => void messages.push(message));
  up.answer = () => retryAfter(60);
  const client = up.client({ ...account, retry: false });
  await client.fetch('/a');
  await client.resume();
  stop();
  const pause = {
    upstream: 'fake',
    scope: 'account',
    key: 'account:',
    kind: 'limit',
    reason: 'HTTP 429',
    status: 429,
    header: 'retry-after',
  };
  const until = up.clock.now() / 1000 + 60_000;
  expect(messages).toEqual([
    { ...pause, state: 'paused', until },
    { ...pause, state: 'resumed', until },
  ]);
});

test('addresses outside of the origin are refused before anything is sent', async () => {
  const client = up.client();
  for (const address of [
    'https://evil.example/x',
    '//evil.example/x',
    'http://api.example.com/',
    'https://api.example.com:8443/',
    'http://[',
  ]) {
    expect(await rejection(client.fetch(address))).toBeInstanceOf(TypeError);
  }
  expect(up.log).toEqual([]);
  await client.fetch('https://api.example.com/x');
  await client.fetch(new URL('/y', 'https://api.example.com'));
  await client.fetch(new Request('https://api.example.com/z', { method: 'PUT', body: 'text' }));
  expect(up.log.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
    'GET /x ',
    'GET /y ',
    'PUT /z text',
  ]);
});
