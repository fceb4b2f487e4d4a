import { setImmediate as turn } from 'node:timers/promises';
import { type Answer, type Decider, fixedWindow, memoryStore, type Part, subscribe } from '@sluice/core';
import { compilePolicy } from '@sluice/core/internal';
import { ThresholdWatch } from './threshold-watch.js';

const NOW = 1_800_000_000_000_000;
const DAY = 86_400_000_000;

test('a check that finds less than a call is not repeated endlessly, also with another check pending', async () => {
  const stop = subscribe('sluice:threshold', () => {});
  const rule = compilePolicy(fixedWindow({ limit: 10, window: '1d' }));
  const notify = { limiter: 'api', policy: 'api', prefix: 'p', suffix: '', levels: [5_000, 10_000] };
  const limit = { rule, name: 'api', policy: 'api', prefix: 'k', suffix: '', notify };
  const parts = [{ limit, key: 'ann', cost: 1, at: 0 }] as unknown as Part[];
  const answer = (remaining: number, used: number): Answer => {
    const trace = { parameters: rule.parameters, after: [NOW + DAY, used] };
    const part = { remaining, reset: DAY, wait: 0, at: 0, override: undefined, trace };
    return { allowed: true, queued: false, now: NOW, wait: 0, parts: [part] } as unknown as Answer;
  };
  let checks = 0;
  // The eleventh check would be one too many. It never resolves, so an endless loop fails the test instead of hanging it.
  const decide = () => {
    checks += 1;
    return checks > 10 ? new Promise<Answer>(() => {}) : answer(10, 0);
  };
  const store = memoryStore();
  const watch = new ThresholdWatch(store, { decide } as unknown as Decider);
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    watch.charged({ parts }, answer(5, 0));
    await turn();
    watch.charged({ parts }, answer(5, 0)); // schedules a check in a second
    watch.charged({ parts }, answer(0, 0)); // a higher level: checks at once
    await turn();
    expect(checks).toBe(2);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(checks).toBe(2);
  } finally {
    jest.useRealTimers();
    stop();
    await store.close();
  }
});
