import { refused, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { isUpstreamPausedError, type Upstream } from './index.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
  // Half of each delay, in place of any part of it.
  jest.spyOn(Math, 'random').mockReturnValue(0.5);
});
afterEach(async () => {
  jest.restoreAllMocks();
  await up.close();
});

const once = { retry: false, timeout: '1m' } as const;
const times = <T>(count: number, work: (i: number) => T) => Array.from({ length: count }, (_, i) => work(i));
const lost = () => new TypeError('fetch failed');
/** Results of calls that are sent one after the other. */
async function results(client: Upstream, count: number): Promise<unknown[]> {
  const all = [];
  for (let i = 0; i < count; i += 1) all.push(await client.fetch('/a').then(({ status }) => status, String));
  return all;
}

test.each<[string, () => Response | Error]>([
  ['503', () => refused(503)],
  ['529', () => refused(529)],
  ['lost connections', lost],
])(
  'five %s in a row open the circuit of this process: one call tries after a delay, and the others follow',
  async (_, answer) => {
    up.answer = ({ number }) => (number <= 5 ? answer() : new Response('ok'));
    const [client, other] = [up.client(once), up.client(once)];
    await results(client, 4);
    expect(await client.state()).toEqual([]);
    await results(client, 1);
    expect(await client.state()).toMatchObject([
      { scope: 'upstream', kind: 'overload', stored: false, until: up.clock.now() / 1000 + 500 },
    ]);
    expect((await other.fetch('/other')).status).toBe(200);
    up.latency = 100;
    const calls = times(10, () => client.fetch('/a'));
    await up.clock.advance('5s');
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(10).fill(200));
    expect(up.times.slice(6)).toEqual([500, ...Array(9).fill(600)]);
    expect(await client.state()).toEqual([]);
  },
);

test('the delay doubles with each call that tries in vain, up to 20 s, and begins with the first again after a success', async () => {
  up.answer = ({ number }) => (number <= 13 || number > 14 ? refused(503) : new Response('ok'));
  const client = up.client({ ...once, timeout: '1h' });
  const calls = results(client, 20);
  await up.clock.advance('10m');
  await calls;
  const waits = up.times.map((at, i) => at - (up.times[i - 1] ?? 0));
  expect(waits).toEqual([
    ...[0, 0, 0, 0, 0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 10_000],
    ...[0, 0, 0, 0, 0, 500],
  ]);
});

test('a call that tries in vain and is repeated later holds no other call up meanwhile', async () => {
  up.answer = ({ number }) => (number <= 6 ? refused(503) : new Response('ok'));
  const client = up.client({ timeout: '1m', retry: { attempts: 2 } });
  for (let i = 0; i < 5; i += 1) await client.fetch('/a', { method: 'POST' });
  const repeated = client.fetch('/a');
  const other = client.fetch('/b', { method: 'POST' });
  await up.clock.advance('5s');
  expect([(await repeated).status, (await other).status]).toEqual([200, 200]);
  // The second delay, 1,000 ms, begins with the response, not after the 500 ms until the call is repeated.
  expect(up.times.slice(5)).toEqual([500, 1500, 1500]);
});

test('a call that waits to be repeated holds none of the permits', async () => {
  up.answer = ({ number }) => (number === 1 ? refused(503) : new Response('ok'));
  const client = up.client({ timeout: '1m', concurrency: 1 });
  const calls = times(3, (i) => client.fetch(`/${i}`).then((response) => response.text()));
  await up.clock.advance('5s');
  await Promise.all(calls);
  expect(up.times).toEqual([0, 0, 0, 500]);
});

test('calls that wait while others try in vain wait for each delay once, however many they are', async () => {
  up.latency = 100;
  up.answer = ({ number }) => (number <= 8 ? refused(503) : new Response('ok'));
  const client = up.client({ ...once, timeout: '1h' });
  const first = results(client, 5);
  await up.clock.advance('500ms');
  await first;
  const sleep = jest.spyOn(up.clock, 'sleep');
  const calls = times(200, () => client.fetch('/a'));
  await up.clock.advance('1m');
  await Promise.all(calls);
  expect(up.log).toHaveLength(205);
  // Three calls try in vain, and one with success; the others wait for each of them, and for their responses.
  expect(sleep.mock.calls.length).toBeLessThan(7 * 200);
});

test('a call that stops waiting just when another may try lets the next one try', async () => {
  up.latency = 100;
  up.answer = ({ number }) => (number <= 5 ? refused(503) : new Response('ok'));
  const client = up.client({ ...once, timeout: '5m' });
  const first = results(client, 5);
  await up.clock.advance('500ms');
  await first;
  await up.clock.advance('1s');
  const [tries, waits] = [new AbortController(), new AbortController()];
  const ended = [tries, waits].map(({ signal }) => rejection(client.fetch('/a', { signal })));
  const next = client.fetch('/b');
  await up.clock.advance(10);
  waits.abort(new Error('enough'));
  tries.abort(new Error('enough'));
  await up.clock.advance('1s');
  await Promise.all(ended);
  expect((await next).status).toBe(200);
});

test('calls that fail together count once', async () => {
  up.latency = 50;
  up.answer = () => refused(503);
  const client = up.client(once);
  const together = times(40, () => client.fetch('/a'));
  await up.clock.advance(60);
  await Promise.all(together);
  expect(await client.state()).toEqual([]);
});

/** Calls that are sent one after the other, each to an endpoint of its own: a 429 holds up its endpoint for a moment. */
async function callEach(client: Upstream, paths: string): Promise<void> {
  for (const path of paths) await client.fetch(`/${path}`);
}
const wide = async (client: Upstream) => (await client.state()).filter(({ scope }) => scope !== 'endpoint');

test.each<[string, () => Response]>([
  ['429', () => refused(429)],
  ['500', () => refused(500)],
  ['404', () => refused(404)],
])('%s is no overload', async (_, answer) => {
  up.answer = answer;
  const client = up.client(once);
  await callEach(client, 'abcdefghij');
  expect([up.log.length, await wide(client)]).toEqual([10, []]);
});

test('a success or a refusal of an account in between begins the count again', async () => {
  up.answer = ({ number }) => (number % 5 === 0 ? refused(429) : refused(503));
  const client = up.client(once);
  await callEach(client, 'abcdefghijklmnopqrst');
  expect([up.log.length, await wide(client)]).toEqual([20, []]);
});

test('while the circuit is open, a call that cannot wait rejects at once, and takes nothing of the limits', async () => {
  up.answer = () => refused(503);
  const client = up.client({ ...once, timeout: 0, concurrency: 1 });
  for (let i = 0; i < 5; i += 1) await (await client.fetch('/a')).text();
  for (let i = 0; i < 3; i += 1) {
    const error = await rejection(client.fetch('/a'));
    expect(isUpstreamPausedError(error)).toBe(true);
    expect(error).toMatchObject({ scope: 'upstream', reason: 'HTTP 503', retryAfter: 500 });
  }
  await up.clock.advance('1s');
  up.answer = () => new Response('ok');
  expect((await client.fetch('/a')).status).toBe(200);
});

test('a signal ends the wait for a call that tries; one that hangs lets another call try after 20 s', async () => {
  up.answer = async ({ number }) => {
    if (number <= 5) return refused(503);
    if (number === 6) await up.clock.sleep(60_000_000);
    return new Response('ok');
  };
  const client = up.client({ ...once, timeout: '5m' });
  await results(client, 5);
  const abort = new AbortController();
  const hanging = client.fetch('/hangs');
  await up.clock.advance('1s');
  const ended = rejection(client.fetch('/a', { signal: abort.signal }));
  const next = client.fetch('/b');
  await up.clock.advance('1s');
  abort.abort(new Error('enough'));
  expect(String(await ended)).toBe('Error: enough');
  expect(up.log).toHaveLength(6);
  await up.clock.advance('20s');
  expect((await next).status).toBe(200);
  await up.clock.advance('1m');
  expect((await hanging).status).toBe(200);
});

test('a call that tried and is served at last lets all waiting calls go, also while a second one tries', async () => {
  up.answer = async ({ number }) => {
    if (number <= 5) return refused(503);
    if (number <= 7) await up.clock.sleep(25_000_000);
    return new Response('ok');
  };
  const client = up.client({ ...once, timeout: '5m' });
  await results(client, 5);
  const calls = times(5, () => client.fetch('/a'));
  await up.clock.advance('2m');
  await Promise.all(calls);
  // The first tries for 25 s, the second from 20 s later on.
  expect(up.times.slice(5)).toEqual([500, 20_500, 25_500, 25_500, 25_500]);
});

test('a caller that aborts its call is no overload, and an overload with a time pauses all processes instead', async () => {
  const client = up.client(once);
  for (let i = 0; i < 10; i += 1) {
    const abort = new AbortController();
    up.answer = () => {
      abort.abort(new Error('enough'));
      throw new Error('aborted');
    };
    await rejection(client.fetch('/a', { signal: abort.signal }));
  }
  expect(await client.state()).toEqual([]);
  up.answer = () => refused(503, { 'retry-after': '600' });
  await client.fetch('/a');
  expect(await client.state()).toMatchObject([{ scope: 'upstream', stored: true, header: 'retry-after' }]);
});

test('resume lets one call try at once', async () => {
  up.answer = ({ number }) => (number <= 5 ? refused(503) : new Response('ok'));
  const client = up.client(once);
  await results(client, 5);
  await client.resume();
  expect(await results(client, 3)).toEqual([200, 200, 200]);
});
