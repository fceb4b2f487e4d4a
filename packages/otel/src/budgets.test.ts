import { concurrency, fixedWindow, ManualClock, memoryStore, subscribe } from '@sluice/core';
import { CollectedMetrics } from '../../../tests/support/otel.js';
import { rejection } from '../../../tests/support/rejection.js';
import { meter } from '../../meter/src/index.js';
import { AttributeNames } from './attributes.js';
import { Budgets } from './budgets.js';
import { instrument, type Telemetry } from './index.js';

let metrics: CollectedMetrics;
let telemetry: Telemetry;
beforeEach(() => {
  metrics = new CollectedMetrics();
  telemetry = instrument({ meterProvider: metrics.provider });
});
afterEach(async () => {
  telemetry.close();
  await metrics.shutdown();
});

const clock = new ManualClock();
const store = memoryStore({ clock });
afterAll(() => store.close());
const axes = {
  usd: fixedWindow({ limit: 1_000, window: '1h' }),
  output: fixedWindow({ limit: 100, window: '1h' }),
  running: concurrency({ limit: 8 }),
};
const scopes = (who: string) => [who, { key: `${who}:all`, axes: ['usd'] as const }];
let meters = 0;
function begin(ttl = '30s') {
  meters += 1;
  return { name: `ai-${meters}`, budget: meter({ name: `ai-${meters}`, store, axes, scopes, ttl }) };
}

const values = async () => ({
  spent: await metrics.values('sluice.budget.spent'),
  held: await metrics.values('sluice.budget.held'),
  denied: await metrics.values('sluice.budget.denied'),
});

test('amounts are counted by axis, once for each call, while they are held and when they are spent', async () => {
  const { name, budget } = begin();
  const [one, two] = [await budget.hold('ann', { usd: 10, output: 5 }), await budget.hold('ann', { usd: 7 })];
  await one.more({ output: 20 });
  await one.renew();
  const seriesOf = (axis: string) => `meter=${name} axis=${axis}`;
  expect((await values()).held).toEqual({
    [seriesOf('usd')]: 17,
    [seriesOf('output')]: 25,
    [seriesOf('running')]: 2,
  });
  await one.settle({ usd: 4, output: 30 });
  await one.settle({ usd: 4, output: 30 });
  await two.cancel();
  expect(await values()).toEqual({
    spent: { [seriesOf('usd')]: 4, [seriesOf('output')]: 30 },
    held: { [seriesOf('usd')]: 0, [seriesOf('output')]: 0, [seriesOf('running')]: 0 },
    denied: {},
  });
  await budget.close();
});

test('a denial is counted for the axis that denied, and holds nothing', async () => {
  const { name, budget } = begin();
  await rejection(budget.hold('ann', { usd: 1, output: 101 }));
  const hold = await budget.hold('ann', { usd: 1 });
  expect(await hold.more({ usd: 1_000 })).toBe(false);
  expect(await hold.more({ usd: 1_000 })).toBe(false);
  const { denied, held } = await values();
  expect(denied).toEqual({ [`meter=${name} axis=output`]: 1, [`meter=${name} axis=usd`]: 2 });
  expect(held).toEqual({ [`meter=${name} axis=usd`]: 1, [`meter=${name} axis=running`]: 1 });
  await hold.cancel();
  await budget.close();
});

test('an unsettled hold counts as held until it lapses', async () => {
  const { name, budget } = begin('1s');
  const now = performance.now();
  const time = jest.spyOn(performance, 'now').mockReturnValue(now);
  await budget.hold('ann', { usd: 10 });
  time.mockReturnValue(now + 500);
  expect((await values()).held).toMatchObject({ [`meter=${name} axis=usd`]: 10 });
  time.mockReturnValue(now + 2_000);
  expect((await values()).held).toMatchObject({ [`meter=${name} axis=usd`]: 0 });
  time.mockRestore();
  await budget.close();
});

test('a renewal of a lapsed hold whose amounts are taken is no denial, and holds nothing', async () => {
  const { name, budget } = begin();
  const hold = await budget.hold('ann', { usd: 600 }, { lapse: 'refund' });
  await clock.advance('40s');
  const other = await budget.hold('ann', { usd: 600 });
  expect([await hold.renew(), await hold.renew()]).toEqual([false, false]);
  const { denied, held } = await values();
  expect([denied, held[`meter=${name} axis=usd`]]).toEqual([{}, 600]);
  await other.cancel();
  expect(await hold.renew()).toBe(true);
  expect((await values()).held[`meter=${name} axis=usd`]).toBe(600);
  await budget.close();
});

test('open holds are searched for lapsed ones when there are twice as many, not at each renewal', () => {
  const counter = () => ({}) as never;
  const names = new AttributeNames(10);
  const budgets = new Budgets(
    { createObservableCounter: counter, createObservableUpDownCounter: counter } as never,
    names,
  );
  const time = jest.spyOn(performance, 'now').mockReturnValue(0);
  const holds = Array.from({ length: 5_000 }, () => ({
    ...{ meter: 'ai', id: '', state: 'held' as const, amounts: { usd: 1 } },
    ...{ axis: undefined, key: undefined, retryAfter: undefined, lapsesAt: 1 },
  }));
  for (const hold of [...holds, ...holds, ...holds]) budgets.count(hold);
  expect(time.mock.calls.length).toBeLessThan(5);
  time.mockRestore();
});

test('a hold from before instrument is not subtracted when it ends', async () => {
  telemetry.close();
  const { name, budget } = begin();
  const hold = await budget.hold('ann', { usd: 10 });
  telemetry = instrument({ meterProvider: metrics.provider });
  await hold.settle({ usd: 6 });
  const { spent, held } = await values();
  expect([spent, held]).toEqual([{ [`meter=${name} axis=usd`]: 6 }, {}]);
  await budget.close();
});

test('a message names the hold, its state and its amounts; the same object is published with each change', async () => {
  const { name, budget } = begin('1s');
  const seen: object[] = [];
  const messages = new Set<object>();
  const stop = subscribe('sluice:hold', (message) => {
    messages.add(message);
    const { lapsesAt, ...more } = message;
    seen.push(more);
  });
  const hold = await budget.hold('ann lee', { usd: 10 }, { id: 'one' });
  await hold.more({ usd: 1_000 });
  await clock.advance('10s');
  await rejection(hold.renew());
  stop();
  const common = { meter: name, id: 'one', axis: undefined, key: undefined, retryAfter: undefined };
  expect(seen).toEqual([
    { ...common, state: 'held', amounts: { usd: 10, output: 0, running: 1 } },
    {
      ...common,
      state: 'denied',
      amounts: { usd: 1_010, output: 0, running: 1 },
      axis: 'usd',
      key: 'ann%20lee',
      retryAfter: expect.any(Number),
    },
    { ...common, state: 'lapsed', amounts: {} },
  ]);
  expect(messages.size).toBe(1);
  await budget.close();
});
