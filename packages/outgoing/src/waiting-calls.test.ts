import { slidingLog } from '@sluice/core';
import { retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { isUpstreamPausedError, standardHeaders, type UpstreamPausedError } from './index.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

const limits = { requests: slidingLog({ limit: 1, window: '20s' }) };
const account = { reads: [standardHeaders({ scope: 'account' })], retry: false } as const;

describe('a call that waits for permits', () => {
  test('rejects at once when a response begins a pause that outlasts it, and another call gets its place', async () => {
    up.answer = async ({ path }) => {
      if (path !== '/a') return new Response('ok');
      await up.clock.sleep(1_000_000);
      return retryAfter(600);
    };
    const client = up.client({ limits, retry: false });
    const first = client.fetch('/a');
    await up.clock.advance(1);
    const waiting = rejection(client.fetch('/a'));
    await up.clock.advance('1s');
    const paused = { code: 'SLUICE_UPSTREAM_PAUSED', scope: 'endpoint', reason: 'HTTP 429' };
    expect(await waiting).toMatchObject(paused);
    expect((await first).status).toBe(429);
    // The place after that one is later than its timeout.
    const other = client.fetch('/b');
    await up.clock.advance('25s');
    expect((await other).status).toBe(200);
    expect(up.paths).toBe('/a /b');
  });

  test('rejects within two seconds when another process begins such a pause', async () => {
    const [client, other] = [up.client({ ...account, limits }), up.client(account)];
    await client.fetch('/a');
    const waiting = rejection(client.fetch('/b'));
    await up.clock.advance('1s');
    up.answer = () => retryAfter(600);
    await other.fetch('/c');
    await up.clock.advance('1s');
    expect(isUpstreamPausedError(await waiting)).toBe(true);
    expect(up.paths).toBe('/a /c');
  });

  test('rejects at once also behind calls of its process with a higher priority', async () => {
    up.answer = async () => {
      await up.clock.sleep(1_000_000);
      return retryAfter(900);
    };
    const priority = ({ url }: { readonly url: URL }) => (url.pathname === '/high' ? 1 : 0);
    const client = up.client({ ...account, limits, priority, timeout: '10m' });
    const first = client.fetch('/a');
    await up.clock.advance(1);
    const paths = [...Array(8).fill('/high'), '/low'];
    const waiting = paths.map((path) => rejection(client.fetch(path)));
    await up.clock.advance('1s');
    expect((await Promise.all(waiting)).every(isUpstreamPausedError)).toBe(true);
    expect((await first).status).toBe(429);
    expect(up.paths).toBe('/a');
  });

  test('keeps its place when a budget is paused that another call of its route draws on', async () => {
    up.latency = 1_000;
    up.answer = ({ number }) => (number === 1 ? retryAfter(600) : new Response('ok'));
    const client = up.client({
      limits,
      retry: false,
      timeout: '1m',
      reads: [standardHeaders({ scope: 'dimension' })],
      dimensions: ({ headers }) => [headers.get('x-model') === 'small' ? 'requests' : 'other'],
    });
    const call = (model: string) => client.fetch('/a', { headers: { 'x-model': model } });
    const first = call('small');
    await up.clock.advance(1);
    const paused = rejection(call('small'));
    const other = call('large');
    await up.clock.advance('2s');
    expect(isUpstreamPausedError(await paused)).toBe(true);
    await up.clock.advance('45s');
    expect([(await first).status, (await other).status]).toEqual([429, 200]);
  });

  test('keeps its place during a pause whose end it can wait for', async () => {
    up.latency = 1_000;
    up.answer = ({ number }) => (number === 1 ? retryAfter(5) : new Response('ok'));
    const client = up.client({ ...account, limits });
    const first = client.fetch('/a');
    await up.clock.advance(1);
    const waiting = client.fetch('/b');
    await up.clock.advance('25s');
    expect([(await first).status, (await waiting).status]).toEqual([429, 200]);
    expect(up.times[1]).toBeGreaterThanOrEqual(20_000);
    expect(up.times[1]).toBeLessThan(20_200);
  });

  test('leaves no look at the store behind when its wait is over', async () => {
    const client = up.client({ ...account, limits });
    await client.fetch('/a');
    await up.clock.advance('2s');
    const sleep = jest.spyOn(up.clock, 'sleep');
    await up.clock.advance('1m');
    expect(sleep).not.toHaveBeenCalled();
    sleep.mockRestore();
  });
});

test('a call that waits for the probe of another process rejects within two seconds when that is refused for long', async () => {
  up.answer = async ({ number }) => {
    if (number === 2) await up.clock.sleep(2_000_000);
    return retryAfter(number === 1 ? 5 : 600);
  };
  const [probing, waiting] = [up.client(account), up.client(account)];
  await probing.fetch('/a');
  const probe = probing.fetch('/a');
  await up.clock.advance('5100ms');
  expect(up.log).toHaveLength(2);
  let error: unknown;
  const waits = rejection(waiting.fetch('/b')).then((reason) => {
    error = reason;
  });
  await up.clock.advance('4s');
  expect(error).toMatchObject({ code: 'SLUICE_UPSTREAM_PAUSED', scope: 'account' });
  expect((error as UpstreamPausedError).retryAfter).toBeGreaterThan(500_000);
  await waits;
  expect((await probe).status).toBe(429);
  expect(up.log).toHaveLength(2);
});
