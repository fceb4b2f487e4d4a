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

test('calls that fail together count once', async () => {
  up.latency = 50;
  up.answer = () => refused(503);
  const client = up.client(once);
  const together = times(40, () => client.fetch('/a'));
  await up.clock.advance(60);
  await Promise.all(together);
  expect(await client.state()).toEqual([]);
});

test.each<[string, () => Response]>([
  ['429', () => refused(429)],
  ['500', () => refused(500)],
  ['404', () => refused(404)],
])('%s is no overload', async (_, answer) => {
  up.answer = answer;
  const client = up.client(once);
  await results(client, 10);
  expect([up.log.length, await client.state()]).toEqual([10, []]);
});

test('a success or a refusal of an account in between begins the count again', async () => {
  up.answer = ({ number }) => (number % 5 === 0 ? refused(429) : refused(503));
  const client = up.client(once);
  await results(client, 20);
  expect([up.log.length, await client.state()]).toEqual([20, []]);
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
