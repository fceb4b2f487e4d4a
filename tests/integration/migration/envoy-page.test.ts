import { parse } from 'yaml';
import { ManualClock, memoryStore } from '../../../packages/core/src/index.js';
import { RequestLimit } from '../../../packages/http/src/index.js';
import { parseRules, Rules, runTests } from '../../../packages/rules/src/index.js';
import { deciding } from '../../support/open-response.js';
import { configOf } from './configs.js';

interface Descriptor {
  readonly key: string;
  readonly value?: string;
  readonly rate_limit: { unit?: 'minute' | 'hour'; requests_per_unit?: number; unlimited?: boolean };
}

const SECONDS = { minute: 60, hour: 3600 };

/** The service: each request increases a counter for each descriptor in each window of the clock. */
class DescriptorCounts {
  readonly #counts = new Map<string, number>();
  readonly #descriptors: readonly Descriptor[];

  constructor(config: string) {
    this.#descriptors = (parse(config) as { descriptors: Descriptor[] }).descriptors;
  }

  /** @param now s @param entries the descriptors of a request @returns whether no limit is exceeded */
  request(now: number, entries: readonly (readonly [key: string, value: string])[]): boolean {
    return entries
      .map(([key, value]) => {
        const ofKey = this.#descriptors.filter((one) => one.key === key);
        const { rate_limit: limit } =
          ofKey.find((one) => one.value === value) ?? ofKey.find((one) => one.value === undefined)!;
        if (limit.unlimited) return true;
        const id = `${key} ${value} ${Math.floor(now / SECONDS[limit.unit!])}`;
        const count = (this.#counts.get(id) ?? 0) + 1;
        this.#counts.set(id, count);
        return count <= limit.requests_per_unit!;
      })
      .every((allowed) => allowed);
  }
}

const clock = new ManualClock();
const store = memoryStore({ clock });
const rules = new Rules(configOf('envoy-and-java', 'With Sluice: Envoy'), { store });
const decide = deciding(new RequestLimit<[]>('rateLimit', { rules, validate: false }));
afterAll(async () => {
  await rules.close();
  await store.close();
});

const request = (ip: string, user?: string) => ({
  ...{ ip, user: undefined, method: 'GET', path: '/', params: {}, query: {}, body: {} },
  headers: user === undefined ? {} : { 'x-user': user },
});

test('the tests in the document pass', async () => {
  expect((await runTests(parseRules(configOf('envoy-and-java', 'With Sluice: Envoy')))).failed).toEqual([]);
});

test('both sides of the page admit the same requests per minute and per hour', async () => {
  const service = new DescriptorCounts(configOf('envoy-and-java', 'Before: Envoy'));
  const users = ['ada', 'partner', 'monitor', undefined];
  let denied = 0;
  for (let i = 0; i < 1200; i += 1) {
    await clock.advance(i % 10 === 0 ? '7s' : '50ms');
    const user = users[(i * 7) % 4];
    // Each request has its own address, which is never limited: both sides differ when one of several limits denies.
    const ip = user === undefined ? '192.0.2.1' : `198.51.${i >> 8}.${i % 256}`;
    const now = clock.now() / 1e6;
    const entries = [['remote_address', ip] as const, ...(user ? [['user', user] as const] : [])];
    const allowed = service.request(now, entries);
    const decision = await decide(request(ip, user));
    expect([i, user, decision!.allowed]).toEqual([i, user, allowed]);
    if (!allowed) denied += 1;
  }
  expect(denied).toBeGreaterThan(100);
  expect(denied).toBeLessThan(1100);
});

test('a request denied by one limit counts at the service’s other limits, but at none of ours', async () => {
  await clock.advance('2h');
  const service = new DescriptorCounts(configOf('envoy-and-java', 'Before: Envoy'));
  const now = clock.now() / 1e6;
  for (let i = 0; i < 60; i += 1) {
    service.request(now, [
      ['remote_address', '203.0.113.9'],
      ['user', 'ben'],
    ]);
    await decide(request('203.0.113.9', 'ben'));
  }
  expect(service.request(now, [['remote_address', '203.0.113.9']])).toBe(false);
  expect(await rules.limiters.address!.peek('203.0.113.9')).toMatchObject({ remaining: 55 });
});
