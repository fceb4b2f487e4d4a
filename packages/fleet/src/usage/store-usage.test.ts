import type { Decision } from '@sluice/core';
import type { FleetBoard, ObservedLimiter } from '@sluice/core/internal';
import { CallCounter } from './call-counter.js';
import { CallUsage } from './call-usage.js';
import { SLOT_MS } from './result-slots.js';
import { StoreUsage } from './store-usage.js';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

function start() {
  const publish = jest.fn(async () => true);
  const board = { publish } as Partial<FleetBoard> as FleetBoard;
  const usage = new StoreUsage('plain', board);
  return { usage, publish, api: new CallCounter(usage, 'api') };
}

const deny = (api: CallCounter, key = 'ann') => {
  api.count('denied', false);
  api.denied(key, false);
};

test('decisions are counted in slots of 10 s, the newest first', () => {
  const { usage, api } = start();
  deny(api);
  jest.advanceTimersByTime(SLOT_MS + 1);
  api.count('allowed', false);
  jest.advanceTimersByTime(2 * SLOT_MS);
  deny(api);
  deny(api);
  const { limiters, slotAge } = usage.summary();
  expect(limiters[0]!.enforce).toEqual({
    allowed: [0, 0, 1],
    denied: [2, 0, 0, 1],
    canceled: [],
    error: [],
    degraded: [],
  });
  expect(slotAge).toBeLessThan(10);
});

test('slots are dropped after 15 minutes, and keys after 10 to 15 minutes', () => {
  const { usage, api } = start();
  const denied = () => api.topKeys().denied.map(({ key, count }) => `${key} ${count}`);
  deny(api, 'old');
  jest.advanceTimersByTime(5 * 60_000 + 10);
  deny(api, 'ann');
  jest.advanceTimersByTime(5 * 60_000);
  deny(api, 'ann');
  expect(denied()).toEqual(['ann 2', 'old 1']);
  expect(api.topKeys().span).toBe(10 * 60_000 + 10);
  jest.advanceTimersByTime(5 * 60_000 - 20);
  expect(denied()).toEqual(['ann 2', 'old 1']);
  expect(api.topKeys().span).toBe(15 * 60_000 - 10);
  jest.advanceTimersByTime(20);
  expect(denied()).toEqual(['ann 2']);
  expect(api.topKeys().span).toBe(10 * 60_000 + 10);
  expect(usage.summary().limiters[0]!.enforce.denied).toHaveLength(61);
});

test('a key is among the recently denied ones for a minute, with the slot under way', () => {
  const { usage, api } = start();
  const recent = () =>
    usage.summary().limiters[0]!.recentlyDenied.entries.map(({ key, count }) => `${key} ${count}`);
  deny(api, 'bob');
  jest.advanceTimersByTime(SLOT_MS + 1);
  deny(api);
  api.denied('dry', true);
  jest.advanceTimersByTime(5 * SLOT_MS);
  deny(api);
  expect(recent()).toEqual(['ann 2', 'bob 1']);
  jest.advanceTimersByTime(SLOT_MS);
  expect(recent()).toEqual(['ann 2']);
  jest.advanceTimersByTime(2 * 60_000);
  expect(recent()).toEqual([]);
  expect(api.topKeys().denied).toHaveLength(2);
});

test('a call that a failure policy decided counts by its result, and as degraded', () => {
  const { usage } = start();
  const calls = new CallUsage(usage, { name: 'api', keys: 'none' } as ObservedLimiter);
  for (const degraded of [true, false])
    calls.decided({ parts: [] }, { allowed: true, degraded } as unknown as Decision, undefined, false);
  expect(usage.summary().limiters[0]!.enforce).toMatchObject({ allowed: [2], denied: [], degraded: [1] });
});

test('fake timers can start after the first calls', () => {
  jest.useRealTimers();
  const { usage, api } = start();
  deny(api);
  usage.close();
  jest.useFakeTimers(); // the monotonic clock begins again at 0
  deny(api);
  const { slotAge, limiters } = usage.summary();
  expect(slotAge).toBeGreaterThanOrEqual(0);
  expect(limiters[0]!.span).toBeGreaterThanOrEqual(0);
  expect(limiters[0]!.enforce.denied).toEqual([2]);
  jest.advanceTimersByTime(SLOT_MS);
  expect(usage.summary().limiters[0]!.enforce.denied).toEqual([0, 2]);
});

test('a jump of the system time does not move slots', () => {
  const { usage, api } = start();
  deny(api);
  for (const jump of [-3_600_000, 86_400_000 * 365]) {
    jest.setSystemTime(Date.now() + jump);
    deny(api);
    jest.advanceTimersByTime(SLOT_MS + 1);
  }
  expect(usage.summary().limiters[0]!.enforce.denied).toEqual([0, 1, 2]);
});

test('a blocked event loop ends all slots that have passed', () => {
  const { usage, api } = start();
  deny(api);
  jest.advanceTimersByTime(1);
  const now = process.hrtime();
  jest.spyOn(process, 'hrtime').mockReturnValue([now[0] + 60, now[1]]);
  deny(api);
  expect(usage.summary().limiters[0]!.enforce.denied).toEqual([0, 0, 0, 0, 0, 0, 2]);
  jest.mocked(process.hrtime).mockReturnValue([now[0] + 10_000_000, now[1]]);
  expect(usage.summary().limiters).toEqual([]);
  jest.restoreAllMocks();
});

test('publishes every 10 s while there were calls in the last 15 minutes', () => {
  const { usage, publish, api } = start();
  expect(jest.getTimerCount()).toBe(0);
  deny(api);
  jest.advanceTimersByTime(9_999);
  expect(publish).toHaveBeenCalledTimes(0);
  jest.advanceTimersByTime(10);
  expect(publish).toHaveBeenCalledTimes(1);
  expect(publish).toHaveBeenCalledWith('usage', expect.stringContaining('"ann",1,0'), 900_000);
  jest.advanceTimersByTime(899_995);
  expect(publish).toHaveBeenCalledTimes(90);
  jest.advanceTimersByTime(60_000);
  expect(jest.getTimerCount()).toBe(0);
  expect(usage.summary().limiters).toEqual([]);

  deny(api, 'bob');
  expect(api.topKeys().denied).toEqual([{ key: 'bob', count: 1, error: 0 }]);
  jest.advanceTimersByTime(10_000);
  const calls = publish.mock.calls.length;
  usage.close();
  expect(jest.getTimerCount()).toBe(0);
  deny(api);
  jest.advanceTimersByTime(60_000);
  expect(publish).toHaveBeenCalledTimes(calls);
});

test('a limiter beyond the 50th gets its own counts once another one is idle', () => {
  const { usage, api } = start();
  const others = Array.from({ length: 60 }, (_, i) => new CallCounter(usage, `tenant-${i}`));
  for (const other of others) deny(other);
  const names = () => usage.summary().limiters.map(({ name }) => name);
  expect(names()).toHaveLength(51);
  expect(names()).not.toContain('tenant-55');
  for (let minute = 0; minute < 16; minute += 1) {
    jest.advanceTimersByTime(60_000);
    deny(others[1]!);
  }
  deny(others[55]!);
  deny(api);
  expect(names()).toEqual(['tenant-1', 'tenant-55', 'api']);
});
