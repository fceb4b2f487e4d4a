import { randomUUID } from 'node:crypto';
import { DECISION, type DenialSource } from '@sluice/core/internal';
import { type DenialReport, followDenials } from '@sluice/fleet';
import { sendDenials } from '@sluice/fleet/internal';
import { fixedWindow, RateLimiter, type Store } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { uniqueName } from '../../support/redis-url.js';
import { rethrow } from '../../support/rethrow.js';

/** Opens a store, each time as another process. The test closes it. */
export type OpenStore = () => Store;

/** A decision: before the first one a store publishes nothing. */
export async function use(store: Store): Promise<void> {
  const policy = fixedWindow({ limit: 9, window: '1m' });
  const name = uniqueName('board');
  const limiter = new RateLimiter({ name, policy, store, deadline: '10s', failurePolicy: rethrow });
  await limiter.consume('k');
  await limiter.close();
}

export const textsOf = async (store: Store, ...stores: readonly Store[]) =>
  (await store.fleet!.read('usage')).filter(({ process }) =>
    stores.some(({ fleet }) => fleet!.process === process),
  );

/** What every remote store broadcasts to its followers. */
export function denialsContract(open: OpenStore): void {
  test('a follower that starts before any process receives the denials of each, until it stops', async () => {
    const [reader, one, two] = [open(), open(), open()];
    const reports: DenialReport[] = [];
    const lost: Error[] = [];
    const stop = followDenials(reader, {
      report: (report) => void reports.push(report),
      lost: (error) => void lost.push(error),
    });
    const limiters = [one, two].map((store) => {
      sendDenials(store as DenialSource, () => true).start();
      const policy = fixedWindow({ limit: 1, window: '1h' });
      const common = { deadline: '10s', denyCache: false, failurePolicy: rethrow } as const;
      return new RateLimiter({ name: uniqueName('denials'), policy, store, ...common });
    });
    try {
      const reportsOf = ({ fleet }: Store) => reports.filter(({ process }) => process === fleet!.process);
      await eventually(async () => {
        for (const limiter of limiters) await limiter.consume('ann\u001b');
        return [one, two].every((store) => reportsOf(store).some(({ denials }) => denials.length > 0));
      });
      [one, two].forEach((store, i) => {
        const denials = reportsOf(store).flatMap((report) => report.denials);
        expect(new Set(denials.map(({ limiter }) => limiter))).toEqual(new Set([limiters[i]!.name]));
        expect(new Set(denials.map(({ key }) => key))).toEqual(new Set(['ann%1B']));
        expect(Math.abs(denials[0]!.at - Date.now())).toBeLessThan(60_000);
      });
      await eventually(async () => reportsOf(one).some(({ storeCalls }) => storeCalls !== undefined));
      expect(lost).toEqual([]);
      expect(DECISION.hasSubscribers).toBe(true);
      stop();
      await eventually(async () => !DECISION.hasSubscribers);
    } finally {
      stop();
      await Promise.all(limiters.map((limiter) => limiter.close()));
      for (const store of [reader, one, two]) await store.close();
    }
  });
}

/** What the notice board of every remote store does. */
export function fleetBoardContract(open: OpenStore): void {
  const opened: Store[] = [];
  const another = () => {
    const store = open();
    opened.push(store);
    return store;
  };
  afterEach(async () => {
    for (const store of opened.splice(0)) await store.close();
  });

  test('each process reads the latest text of every process, whatever characters it contains', async () => {
    const [one, two, reader] = [another(), another(), another()];
    await Promise.all([use(one), use(two)]);
    const text = `é{}\n'"\\ ${randomUUID()} ${'x'.repeat(50_000)}`;
    expect(await one.fleet!.publish('usage', 'first', 60_000)).toBe(true);
    expect(await one.fleet!.publish('usage', text, 60_000)).toBe(true);
    expect(await two.fleet!.publish('usage', 'of two', 60_000)).toBe(true);
    expect(await one.fleet!.publish('definitions', 'another kind', 60_000)).toBe(true);
    const notes = await textsOf(reader, one, two);
    const expected = [
      { process: two.fleet!.process, age: expect.any(Number), text: 'of two' },
      { process: one.fleet!.process, age: expect.any(Number), text },
    ];
    // In one millisecond either may be the latest.
    expect(notes).toEqual(expect.arrayContaining(expected));
    expect(notes).toHaveLength(2);
    for (const { age } of notes) expect(age).toBeGreaterThanOrEqual(0);
  });

  test('a text expires', async () => {
    const [one, two] = [another(), another()];
    await Promise.all([use(one), use(two)]);
    await one.fleet!.publish('usage', 'soon gone', 50);
    await eventually(async () => (await textsOf(two, one)).length === 0);
  });

  test('a store without decisions, or that is closed, publishes nothing', async () => {
    const [fresh, closed, reader] = [another(), another(), another()];
    expect(await fresh.fleet!.publish('usage', 'too early', 60_000)).toBe(false);
    await use(closed);
    await closed.close();
    expect(closed.fleet!.closed).toBe(true);
    expect(await closed.fleet!.publish('usage', 'too late', 60_000)).toBe(false);
    expect(await textsOf(reader, fresh, closed)).toEqual([]);
  });

  test('a connected store publishes before its first decision', async () => {
    const [connected, reader] = [another(), another()];
    await connected.connect!();
    expect(await connected.fleet!.publish('usage', 'early', 60_000)).toBe(true);
    expect((await textsOf(reader, connected)).map(({ text }) => text)).toEqual(['early']);
  });
}
