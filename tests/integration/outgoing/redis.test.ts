import { type RedisStore, redisStore, slidingLog } from '@sluice/core';
import { isUpstreamPausedError, standardHeaders, type Upstream, upstream } from '@sluice/outgoing';
import { eventually } from '../../support/eventually.js';
import { FakeUpstream } from '../../support/outgoing/fake-upstream.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { rejection } from '../../support/rejection.js';

let service: FakeUpstream;
const stores: RedisStore[] = [];
const clients: Upstream[] = [];
afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.close()));
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await service.stop();
});

/** Clients with a connection each, as processes have. */
function processes(count: number, options: Partial<Parameters<typeof upstream>[0]> = {}): Upstream[] {
  const name = uniqueName('service');
  const { origin } = service;
  return Array.from({ length: count }, () => {
    const store = redisStore(redisUrl());
    const reads = [standardHeaders({ scope: 'account' })];
    const client = upstream({ name, origin, store, reads, deadline: '5s', ...options });
    stores.push(store);
    clients.push(client);
    return client;
  });
}

test('after a pause is stored no process starts a call but the probe, and bottleneck #194: every call ends', async () => {
  service = await FakeUpstream.start({ latency: 20 });
  service.script = (_, number) => [number === 1 ? 429 : 200, number === 1 ? { 'retry-after': '1.2' } : {}];
  const fleet = processes(3);
  const refused = fleet[0]!.fetch('/a');
  await eventually(async () => (await fleet[0]!.state())[0]?.stored);
  const calls = Array.from({ length: 30 }, (_, i) => fleet[i % 3]!.fetch(`/b/${i}`));
  const statuses = (await Promise.all([refused, ...calls])).map(({ status }) => status);
  expect(statuses).toEqual(Array(31).fill(200));
  const [pausing, ...rest] = service.log;
  const first = rest.reduce((one, other) => (other.at < one.at ? other : one));
  expect(first.at - pausing!.ended).toBeGreaterThanOrEqual(1150);
  const during = rest.filter(({ at }) => at < first.ended);
  expect(during).toHaveLength(1);
});

test('octokit #629: a pause of one process rejects the calls of another at once, and resume ends it for both', async () => {
  service = await FakeUpstream.start();
  service.script = (_, number) => [number === 1 ? 429 : 200, number === 1 ? { 'retry-after': '600' } : {}];
  const [one, other] = processes(2);
  expect((await one!.fetch('/a')).status).toBe(429);
  expect(isUpstreamPausedError(await rejection(other!.fetch('/a')))).toBe(true);
  expect(await other!.state()).toMatchObject([{ scope: 'account', kind: 'unknown' }]);
  await other!.resume();
  expect((await other!.fetch('/a')).status).toBe(200);
  expect(service.log).toHaveLength(2);
});

describe('bottleneck #205: limits are shared on Redis 7', () => {
  /** How many of 15 calls arrive within half a window; three processes have a limit of 10 each, or together. */
  const arrivals = async (isShared: boolean) => {
    service = await FakeUpstream.start({ limit: 10, window: 3000 });
    const limits = { requests: slidingLog({ limit: 10, window: '3s' }) };
    const options = { limits, retry: { attempts: 20 } };
    const fleet = isShared ? processes(3, options) : [0, 1, 2].flatMap(() => processes(1, options));
    const calls = Array.from({ length: 15 }, (_, i) => fleet[i % 3]!.fetch('/a'));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(15).fill(200));
    expect(service.log.filter(({ status }) => status === 200)).toHaveLength(15);
    return service.log.filter(({ at }) => at < service.log[0]!.at + 1500).length;
  };

  // How few are refused is tested in virtual time: calls of a busy machine arrive late, and together.
  test('every call is served, each once, and no more are sent at once than the limit', async () => {
    expect(await arrivals(true)).toBeLessThanOrEqual(10);
  });

  test('with a limit for each process more are sent at once', async () => {
    expect(await arrivals(false)).toBeGreaterThan(10);
  });
});
