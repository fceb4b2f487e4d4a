import { setTimeout as sleep } from 'node:timers/promises';
import {
  CombinedLimiter,
  fixedWindow,
  memoryStore,
  RateLimiter,
  redisStore,
  type Store,
  slidingLog,
  tokenBucket,
} from '@sluice/core';
import { readDefinitions } from '@sluice/fleet';
import { Redis } from 'ioredis';
import { CREDENTIALS, RULES, refusals, setUser } from '../../../tests/security/least-privilege/rules.js';
import { eventually } from '../../../tests/support/eventually.js';
import { startRedisCluster } from '../../../tests/support/redis/redis-cluster.js';
import { startRedisSentinels } from '../../../tests/support/redis/redis-sentinel.js';
import { startRedis } from '../../../tests/support/redis/redis-server.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { within } from '../../../tests/support/within.js';
import { type Dashboard, dashboard } from './index.js';
import type { Denial, TopKey } from './messages.js';

// The data that the page reads, read as the page reads it.

const ORIGIN = 'http://127.0.0.1:3000';
const POST = { Origin: ORIGIN, 'Content-Type': 'application/json' };

/** The events of a stream, as they arrive. */
async function stream(page: Dashboard, path: string, body?: unknown) {
  const init = body === undefined ? {} : { method: 'POST', headers: POST, body: JSON.stringify(body) };
  const response = await page(new Request(`${ORIGIN}/${path}`, init));
  if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  return {
    /** The data of the next event of this name that `fits`. */
    // biome-ignore lint/suspicious/noExplicitAny: tests read what they expect
    async next(name: string, fits: (data: any) => boolean = () => true): Promise<any> {
      for (;;) {
        const end = text.indexOf('\n\n');
        if (end < 0) {
          const { value, done } = await reader.read();
          if (done) throw new Error(`no ${name} before the end`);
          text += value;
          continue;
        }
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        if (event === name && fits(JSON.parse(data!))) return JSON.parse(data!);
      }
    },
    end: () => reader.cancel(),
  };
}

interface Servers {
  /** The store of the processes whose limiters the page shows. */
  readonly store: Store;
  /** The store of the page. In memory it is the same one. */
  readonly other: Store;
  stop?(): Promise<void>;
}

type Events = Awaited<ReturnType<typeof stream>>;

/** Repeats the call until the page receives a denial that fits: processes notice within seconds that a page is open. */
async function denied(
  events: Events,
  call: () => Promise<unknown>,
  fits: (denial: Denial) => boolean = () => true,
) {
  let hasArrived = false;
  const arrived = within(
    events.next('denials', (list) => list.some(fits)),
    'the page receives the denial',
  ).finally(() => {
    hasArrived = true;
  });
  const calling = async () => {
    while (!hasArrived) {
      await call();
      await sleep(50);
    }
  };
  const [list] = await Promise.all([arrived, calling()]);
  return list.find(fits) as Denial;
}

const usage = { keys: 'plain' } as const;

const SERVERS: Readonly<Record<string, () => Servers | Promise<Servers>>> = {
  memory() {
    const store = memoryStore({ usage });
    return { store, other: store };
  },
  redis: () => ({
    store: redisStore({ url: redisUrl(), usage, denials: true }),
    other: redisStore({ url: redisUrl() }),
  }),
  async cluster() {
    const { addresses, stop } = await startRedisCluster();
    const at = { cluster: addresses };
    return { store: redisStore({ ...at, usage, denials: true }), other: redisStore(at), stop };
  },
  async sentinels() {
    const { addresses, name, stop } = await startRedisSentinels();
    const at = { sentinels: addresses, name };
    return { store: redisStore({ ...at, usage, denials: true }), other: redisStore(at), stop };
  },
  async 'a user with least rights'() {
    const server = await startRedis();
    const admin = new Redis(server.url);
    const send = (command: string, ...args: string[]) => admin.call(command, ...args);
    await setUser(send, RULES);
    const stop = async () => {
      const refused = await refusals(send);
      admin.disconnect();
      await server.stop();
      expect(refused).toEqual([]);
    };
    const at = { url: server.url, ...CREDENTIALS };
    return { store: redisStore({ ...at, usage, denials: true }), other: redisStore(at), stop };
  },
};

describe.each(Object.entries(SERVERS))('%s', (kind, startServers) => {
  const [api, login, both] = ['api', 'login', 'both'].map(uniqueName) as [string, string, string];
  let servers: Servers;
  let bucket: RateLimiter;
  let windows: RateLimiter;
  let combined: CombinedLimiter<'bucket' | 'windows'>;
  let page: Dashboard;

  beforeAll(async () => {
    servers = await startServers();
    const { store, other } = servers;
    const options = { store, deadline: '10s', hashTag: 'tag' } as const;
    const policy = tokenBucket({ capacity: 2, refill: 1, every: '1h' });
    bucket = new RateLimiter({ name: api, policy, ...options });
    const policies = {
      perHour: fixedWindow({ limit: 1, window: '1h' }),
      perDay: slidingLog({ limit: 5, window: '1d' }),
    };
    windows = new RateLimiter({ name: login, policies, ...options });
    combined = new CombinedLimiter({ bucket, windows }, { name: both });
    await combined.consume({ bucket: 'ann', windows: 'ann' });
    const known = async () =>
      (await readDefinitions(store)).flatMap(({ limiters }) => limiters.map(({ name }) => name));
    await eventually(async () => (await known()).includes(both));
    page = dashboard(other, { authorize: () => true, write: true });
  });
  afterAll(async () => {
    await page?.close();
    await Promise.all([bucket.close(), windows.close()]);
    await Promise.all([servers.store.close(), servers.other.close()]);
    await servers.stop?.();
  });

  const change = async (body: object): Promise<[number, { done: string }]> => {
    const response = await page(
      new Request(`${ORIGIN}/change`, {
        method: 'POST',
        headers: POST,
        body: JSON.stringify({ confirmed: true, ...body }),
      }),
    );
    return [response.status, (await response.json()) as { done: string }];
  };

  test('the page lists each limiter with its policies and members', async () => {
    const events = await stream(page, 'events');
    const limiters = await events.next('limiters', (list) => list.length > 0);
    const named = Object.fromEntries(limiters.map((info: { name: string }) => [info.name, info]));
    expect(named[api]).toMatchObject({
      kind: 'limiter',
      policies: bucket.policies,
      processes: 1,
      isOwn: kind === 'memory',
    });
    expect(named[login].policies).toEqual(windows.policies);
    expect(named[both]).toMatchObject({
      kind: 'combined',
      policies: {},
      members: { bucket: api, windows: login },
    });
    await events.end();
  });

  test("a denial reaches the page with the caller's key and the limiter that denied it", async () => {
    const events = await stream(page, 'events');
    await events.next('limiters', (list) => list.length > 0);
    const key = '<img src=x>"\u202e';
    const denial = await denied(events, () => combined.consume({ bucket: key, windows: key }));
    expect(denial).toMatchObject({
      count: expect.any(Number),
      process: expect.stringMatching(`:${process.pid}$`),
      limiter: both,
      owner: login,
      policy: 'windows.perHour',
      key: { text: key, known: true },
      shadow: false,
    });
    expect(denial.retryAfter).toBeGreaterThan(0);
    // The page may have received the second of the earlier calls before their denials.
    await combined.consume({ bucket: key, windows: key });
    const { counts } = await events.next('second', (seconds) => both in seconds.counts);
    const [[, deniedCalls]] = counts[both];
    expect(deniedCalls).toBeGreaterThan(0);
    const later = await stream(page, 'events');
    const history = (await later.next('history')).counts[both];
    expect(history.some(([, calls]: [number, number]) => calls >= deniedCalls)).toBe(true);
    expect(await later.next('denials')).toHaveLength(1);
    await Promise.all([events.end(), later.end()]);
  });

  test('a key too long to store is shown as its digest', async () => {
    const events = await stream(page, 'events');
    const key = 'k'.repeat(10_000);
    const { key: shown } = await denied(
      events,
      () => bucket.consume(key, { cost: 3 }),
      ({ limiter }) => limiter === api,
    );
    expect(shown).toEqual({ text: expect.stringMatching(/^%sha256-/), known: false });
    await events.end();
    const watched = await stream(page, 'key', { limiter: api, key });
    expect(await watched.next('key')).toMatchObject({ allowed: true, known: false });
    await watched.end();
  });

  test('the page lists the most denied keys of all processes', async () => {
    await bucket.consume('eve', { cost: 3 });
    await servers.store.usage!.publish(); // otherwise with the next slot, after ten seconds
    const events = await stream(page, 'events');
    const isThere = ({ limiter, key }: { limiter: string; key: { text: string } }) =>
      limiter === api && key.text === 'eve';
    const usage = await events.next('usage', (one) => one?.denied.some(isThere));
    expect(usage.denied.find(isThere)).toMatchObject({ owner: api, key: { known: true }, error: 0 });
    expect(usage.limiters[api].denied).toHaveLength(89);
    await events.end();
  });

  test('a most denied key has the policy that denied it, also in a combination', async () => {
    for (let i = 0; i < 2; i += 1) {
      await windows.consume('dan');
      await combined.consume({ bucket: 'dan', windows: 'fay' });
    }
    await servers.store.usage!.publish();
    const events = await stream(page, 'events');
    const { denied } = await events.next('usage', (one) =>
      one?.denied.some(({ key }: { key: { text: string } }) => key.text === 'dan'),
    );
    const policyOf = (limiter: string, key: string) =>
      denied.find((one: TopKey) => one.limiter === limiter && one.key.text === key);
    expect(policyOf(login, 'dan')).toMatchObject({ owner: login, policy: 'perHour', count: 1 });
    expect(policyOf(both, 'fay')).toMatchObject({ owner: login, policy: 'perHour', count: 1 });
    await events.end();
  });

  test('a watched key is sent again when it changes', async () => {
    const watched = await stream(page, 'key', { limiter: api, key: 'bob' });
    expect(await watched.next('key')).toMatchObject({
      known: false,
      allowed: true,
      wait: 0,
      policies: [{ view: { level: 2 } }],
    });
    await bucket.consume('bob', { cost: 2 });
    const { policies, allowed, wait } = await watched.next('key');
    expect([allowed, wait > 0]).toEqual([false, true]);
    expect(policies).toMatchObject([
      { name: api, remaining: 0, blockedUntil: 0, view: { kind: 'bucket', capacity: 2 } },
    ]);
    expect(await change({ limiter: api, key: 'bob', action: 'reset' })).toEqual([
      200,
      { done: `Reset. Before: ${api} had 0 left.` },
    ]);
    expect(await watched.next('key')).toMatchObject({ allowed: true });
    await watched.end();
  });

  test('the page can end a block, and set and remove an override', async () => {
    const key = { limiter: login, key: 'carl' };
    await windows.block('carl', '1h');
    expect(await change({ ...key, action: 'unblock' })).toEqual([
      200,
      { done: expect.stringMatching(/^Unblocked\. .*blocked/) },
    ]);
    const override = {
      ...key,
      action: 'override',
      policy: 'perHour',
      numbers: { limit: 3 },
      expiresIn: '1h',
    };
    expect((await change(override))[0]).toBe(200);
    const watched = await stream(page, 'key', key);
    const { policies } = await watched.next('key');
    expect(policies).toMatchObject([
      { name: 'perHour', overridden: true, overrideUntil: expect.any(Number), remaining: 3 },
      { name: 'perDay', overridden: false, remaining: 5 },
    ]);
    expect((await change({ ...key, action: 'removeOverride' }))[1].done).toMatch(/The override has ended/);
    expect(await watched.next('key')).toMatchObject({ policies: [{ overridden: false, remaining: 1 }, {}] });
    await watched.end();
  });

  test.each([
    [{ numbers: { limit: -1 } }, /limit must be/],
    [{ numbers: { limit: '3' } }, /'limit' is no number/],
    [{ numbers: { lim: 3 } }, /'lim' is no number/],
    [{ numbers: { algorithm: 3 } }, /'algorithm' is no number/],
    [{ policy: 'perWeek' }, /Name a policy/],
    [{ expiresIn: 'soon' }, /expiresIn/],
  ])('an override with %j is refused', async (wrong, message) => {
    const right = {
      limiter: login,
      key: 'x',
      action: 'override',
      policy: 'perHour',
      numbers: { limit: 3 },
      expiresIn: '1h',
    };
    expect(await change({ ...right, ...wrong })).toEqual([400, { error: expect.stringMatching(message) }]);
  });

  test('an unknown limiter, and one without keys of its own, are refused', async () => {
    const nobody = await stream(page, 'key', { limiter: 'nobody', key: 'x' });
    expect(await nobody.next('problem')).toMatch(/No process has made a limiter 'nobody' known/);
    await nobody.end();
    expect((await change({ limiter: 'nobody', key: 'x', action: 'reset' }))[0]).toBe(404);
    const watched = await stream(page, 'key', { limiter: both, key: 'x' });
    expect(await watched.next('problem')).toMatch(/has no keys of its own/);
    await watched.end();
    expect((await change({ limiter: both, key: 'x', action: 'reset' }))[0]).toBe(400);
  });

  test('the page receives the number of omitted denials and the round trip to the store', async () => {
    const events = await stream(page, 'events');
    await denied(events, () => bucket.consume('many', { cost: 3 }));
    const flood = () =>
      Promise.all(Array.from({ length: 300 }, (_, i) => bucket.consume(`many-${i}`, { cost: 3 })));
    await Promise.all([events.next('reports', ({ omitted }) => omitted > 0), flood()]);
    const { roundTrip } = await events.next(
      'health',
      (health) => kind === 'memory' || health.roundTrip !== null,
    );
    if (kind === 'memory') expect(roundTrip).toBeNull();
    else expect(roundTrip.p50 > 0 && roundTrip.p99 >= roundTrip.p50 && roundTrip.processes > 0).toBe(true);
    await events.end();
  });
});
