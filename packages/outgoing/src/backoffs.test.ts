import { refused, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import {
  hubspotHeaders,
  isUpstreamPausedError,
  standardHeaders,
  stripeHeaders,
  type Upstream,
} from './index.js';

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

const once = { retry: false, timeout: '5m' } as const;
/** ms until the pauses end that a process knows of. */
const ends = async (client: Upstream) =>
  (await client.state()).map(({ until }) => until - up.clock.now() / 1000);

describe('a refusal without a time', () => {
  test('holds up its endpoint in its process, and nothing else', async () => {
    up.answer = ({ number }) => (number === 1 ? refused(429) : new Response('ok'));
    const [client, other] = [up.client(once), up.client(once)];
    await client.fetch('/a');
    const pause = { scope: 'endpoint', key: 'account::GET /a', kind: 'limit', reason: 'HTTP 429' };
    expect(await client.state()).toMatchObject([{ ...pause, status: 429, header: '', stored: false }]);
    const held = client.fetch('/a');
    await client.fetch('/b');
    await client.fetch('/a', { method: 'POST' });
    await other.fetch('/a');
    await up.clock.advance('1s');
    expect((await held).status).toBe(200);
    expect(up.times).toEqual([0, 0, 0, 0, 500]);
  });

  test('doubles the delay with each one in a row, up to 20 s, and a success begins with the first again', async () => {
    up.answer = ({ number }) => (number <= 7 || number === 9 ? refused(429) : new Response('ok'));
    const client = up.client(once);
    const calls = (async () => {
      for (let i = 0; i < 10; i += 1) await client.fetch('/a');
    })();
    await up.clock.advance('2m');
    await calls;
    const waits = up.times.map((at, i) => at - (up.times[i - 1] ?? 0));
    expect(waits).toEqual([0, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 0, 500]);
  });

  test('holds nothing up for longer than maxPause', async () => {
    up.answer = () => refused(429);
    const client = up.client({ ...once, maxPause: '1s' });
    const calls = (async () => {
      for (let i = 0; i < 4; i += 1) await client.fetch('/a');
    })();
    await up.clock.advance('10s');
    await calls;
    expect(up.times).toEqual([0, 500, 1500, 2500]);
    expect(await ends(client)).toEqual([]);
  });

  test('counts once for calls that were in flight together', async () => {
    up.latency = 100;
    up.answer = () => refused(429);
    const client = up.client(once);
    const together = Array.from({ length: 20 }, () => client.fetch('/a'));
    await up.clock.advance(100);
    await Promise.all(together);
    expect(await ends(client)).toEqual([500]);
    const next = client.fetch('/a');
    await up.clock.advance(600);
    await next;
    expect(await ends(client)).toEqual([1000]);
  });

  test('of an account holds up the endpoint alone', async () => {
    up.answer = () => refused(429);
    const client = up.client({ ...once, reads: [standardHeaders({ scope: 'account' })] });
    await client.fetch('/a');
    expect(await client.state()).toMatchObject([{ scope: 'endpoint', stored: false }]);
  });

  test.each<[string, object, Response]>([
    ['of a quota', { reads: [hubspotHeaders] }, refused(429, {}, '{"policyName":"DAILY"}')],
    ['of one call', { reads: [stripeHeaders] }, refused(429, { 'stripe-rate-limited-reason': 'lock' })],
    ['for an overload', {}, refused(503)],
  ])('%s holds nothing up', async (_, options, answer) => {
    up.answer = () => answer;
    const client = up.client({ ...once, ...options });
    await client.fetch('/a');
    expect(await client.state()).toEqual([]);
  });

  test('lets the call that is repeated wait no longer than the others', async () => {
    up.answer = ({ number }) => (number === 1 ? refused(429) : new Response('ok'));
    const client = up.client();
    const call = client.fetch('/a');
    await up.clock.advance('2s');
    expect((await call).status).toBe(200);
    expect(up.times).toEqual([0, 500]);
  });

  test('is the result if the delay outlasts the timeout, and the next call rejects at once', async () => {
    up.answer = () => refused(429);
    const client = up.client({ timeout: '400ms' });
    expect((await client.fetch('/a')).status).toBe(429);
    expect(isUpstreamPausedError(await rejection(client.fetch('/a')))).toBe(true);
    expect(up.log).toHaveLength(1);
  });
});
