import { isLimiterClosedError, slidingLog } from '@sluice/core';
import { refused, retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { standardHeaders } from './index.js';

let up: ScriptedUpstream;
beforeEach(() => {
  up = new ScriptedUpstream();
});
afterEach(() => up.close());

const account = { reads: [standardHeaders({ scope: 'account' })], timeout: '10m' } as const;
const times = <T>(count: number, work: () => T) => Array.from({ length: count }, work);

describe('close ends with a LimiterClosedError', () => {
  test('the wait for a pause, before and after its refusal', async () => {
    up.answer = () => retryAfter(60);
    const client = up.client(account);
    const calls = [rejection(client.fetch('/a'))];
    await up.clock.advance(1);
    calls.push(rejection(client.fetch('/b')));
    await up.clock.advance(1);
    await client.close();
    expect((await Promise.all(calls)).every(isLimiterClosedError)).toBe(true);
    expect(up.paths).toBe('/a');
  });

  test('the back-off of a call', async () => {
    jest.spyOn(Math, 'random').mockReturnValue(0.9);
    up.answer = () => refused(503);
    const client = up.client(account);
    const call = rejection(client.fetch('/a'));
    await up.clock.advance(1);
    await client.close();
    expect(isLimiterClosedError(await call)).toBe(true);
    jest.restoreAllMocks();
  });

  test('the wait for a call that tries whether the upstream serves again', async () => {
    up.answer = async ({ number }) => {
      if (number > 5) await up.clock.sleep(60_000_000);
      return number > 5 ? new Response('ok') : refused(503);
    };
    const client = up.client({ ...account, retry: false });
    for (let i = 0; i < 5; i += 1) await client.fetch('/a');
    const tries = client.fetch('/tries');
    await up.clock.advance('2s');
    const waits = times(3, () => rejection(client.fetch('/waits')));
    await up.clock.advance('1s');
    await client.close();
    expect((await Promise.all(waits)).every(isLimiterClosedError)).toBe(true);
    await up.clock.advance('1m');
    expect((await tries).status).toBe(200);
  });

  test('the wait for permits, and every later call', async () => {
    const client = up.client({ ...account, limits: { requests: slidingLog({ limit: 1, window: '1m' }) } });
    await client.fetch('/a');
    const waits = times(40, () => rejection(client.fetch('/a')));
    await up.clock.advance(1);
    await client.close();
    expect((await Promise.all([...waits, rejection(client.fetch('/a'))])).every(isLimiterClosedError)).toBe(
      true,
    );
  });
});

describe.each<[string, readonly Response[], string]>([
  ['', [], '1s'],
  [' of a call that probes after a pause', [retryAfter(5)], '6s'],
])('a response that arrives after close%s', (_of, before, sentBy) => {
  test.each<[string, number, () => Response]>([
    ['a success', 200, () => new Response('ok')],
    [
      'a success that says that nothing is left',
      200,
      () => new Response('ok', { headers: { ratelimit: '"p";r=0;t=5' } }),
    ],
    ['a refusal', 429, () => retryAfter(1)],
    ['an overload', 503, () => refused(503)],
  ])('is the result of its call: %s', async (_, status, answer) => {
    up.answer = async ({ number }) => {
      if (number > before.length) await up.clock.sleep(2_000_000);
      return before[number - 1] ?? answer();
    };
    const limits = { requests: slidingLog({ limit: 10, window: '1s' }) };
    const client = up.client({ ...account, limits, concurrency: 2, settle: () => ({ requests: 2 }) });
    const call = client.fetch('/a', { method: 'PUT', body: 'x' });
    await up.clock.advance(sentBy);
    expect(up.log).toHaveLength(before.length + 1);
    await client.close();
    await up.clock.advance('1m');
    const response = await call;
    expect(response.status).toBe(status);
    await response.text();
    expect(up.log).toHaveLength(before.length + 1);
  });
});
