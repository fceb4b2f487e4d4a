import { setImmediate as turn } from 'node:timers/promises';
import { compilePolicy } from '../algorithms/index.js';
import type { Answer, Decider } from '../call/call.js';
import { fixedWindow, memoryStore, subscribe } from '../index.js';
import type { PolicyPart } from '../pipeline/policy-limit.js';
import { ThresholdWatch } from './threshold-watch.js';

const NOW = 1_800_000_000_000_000;
const DAY = 86_400_000_000;

test('a look that finds less than a call saw is not made again and again, also with another one due', async () => {
  const stop = subscribe('sluice:threshold', () => {});
  const rule = compilePolicy(fixedWindow({ limit: 10, window: '1d' }));
  const notify = { limiter: 'api', policy: 'api', prefix: 'p', suffix: '', levels: [5_000, 10_000] };
  const limit = { rule, name: 'api', policy: 'api', prefix: 'k', suffix: '', notify };
  const parts = [{ limit, key: 'ann', cost: 1, at: 0 }] as unknown as PolicyPart[];
  const answer = (remaining: number, used: number): Answer => {
    const trace = { parameters: rule.parameters, after: [NOW + DAY, used] };
    const part = { remaining, reset: DAY, wait: 0, at: 0, override: undefined, trace };
    return { allowed: true, queued: false, now: NOW, wait: 0, parts: [part] } as unknown as Answer;
  };
  let looks = 0;
  // The eleventh look would be one too many; it never ends, so that a loop fails this test and does not hang it.
  const decide = () => {
    looks += 1;
    return looks > 10 ? new Promise<Answer>(() => {}) : answer(10, 0);
  };
  const store = memoryStore();
  const watch = new ThresholdWatch(store, { decide } as unknown as Decider);
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
  try {
    watch.charged({ parts }, answer(5, 0));
    await turn();
    watch.charged({ parts }, answer(5, 0)); // a look is due in a second
    watch.charged({ parts }, answer(0, 0)); // a higher level: a look at once
    await turn();
    expect(looks).toBe(2);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(looks).toBe(2);
  } finally {
    jest.useRealTimers();
    stop();
    await store.close();
  }
});
