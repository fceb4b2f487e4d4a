import { memoryStore, RateLimiter, tokenBucket } from '@sluice/core';
import { inForce, type KnownPause, type Note, pauseRows, pauseSentences } from './upstreams.js';

const NOW = Date.UTC(2026, 10, 28) * 1000;
const SECOND = 1_000_000;
const ids = { process: 'p', age: 0, host: 'shop', upstreams: [] };

/** What a process has published: a pause that ends in some seconds. */
const note = (pid: number, seconds: number, stored: boolean, header = 'retry-after'): Note => ({
  by: { ...ids, pid },
  pause: {
    scope: 'upstream',
    key: 'upstream',
    kind: 'overload',
    reason: 'HTTP 503',
    status: 503,
    header,
    since: NOW / 1000,
    until: (NOW + seconds * SECOND) / 1000,
    stored,
  },
});

/** Ends of pauses in seconds, and whose text explains each. */
const shown = (notes: readonly Note[], blockedFor: number) =>
  inForce(notes, NOW + blockedFor * SECOND, NOW).map(({ note: one, until, stored, others }) => ({
    by: one?.by.pid,
    seconds: (until - NOW) / SECOND,
    stored,
    others,
  }));

describe('the pauses of a key in force', () => {
  test('a pause in the store has the text of the process that wrote it, not the text of a longer pause of one process', () => {
    expect(shown([note(1, 60, true), note(2, 90, false)], 60)).toEqual([
      { by: 1, seconds: 60, stored: true, others: 0 },
      { by: 2, seconds: 90, stored: false, others: 0 },
    ]);
    expect(shown([note(1, 60, true), note(2, 30, false)], 60)).toEqual([
      { by: 1, seconds: 60, stored: true, others: 0 },
    ]);
  });

  test('the text whose end is nearest explains a pause', () => {
    expect(shown([note(1, 300, true), note(2, 61, true), note(3, 20, true)], 60)).toMatchObject([{ by: 2 }]);
  });

  test('a pause that no text fits is one without a reason', () => {
    expect(shown([note(1, 60, true)], 3600)).toEqual([
      { by: undefined, seconds: 3600, stored: true, others: 0 },
    ]);
  });

  test('texts of pauses that were ended, or are over, are not shown', () => {
    expect(shown([note(1, 60, true), note(2, -1, false)], 0)).toEqual([]);
  });

  test('processes that pause by themselves are one pause, until the last of them', () => {
    expect(shown([note(1, 4, false), note(2, 9, false), note(3, 7, false)], 0)).toEqual([
      { by: 2, seconds: 9, stored: false, others: 2 },
    ]);
  });
});

describe('the sentences about a pause of one process', () => {
  const limiter = RateLimiter.internals(
    new RateLimiter({
      name: 'a:pauses',
      policy: tokenBucket({ capacity: 1, refill: 1, every: '1s' }),
      store: memoryStore(),
    }),
  ).limits.definition('limiter');
  const pause = (header: string, others: number): KnownPause => ({
    ...note(7, 9, false, header).pause,
    upstream: 'a',
    limiter,
    now: NOW,
    since: NOW,
    until: NOW + 9 * SECOND,
    process: 'shop:7',
    others,
  });

  test('an open circuit is named as such, with the number of processes', () => {
    const sentences = pauseSentences(pause('', 2));
    expect(sentences.slice(2)).toEqual([
      'Also 2 other processes, for no longer.',
      'The responses state no time, so the circuit of each process pauses that process alone. No command ends it.',
    ]);
    expect(pauseRows([pause('', 2)])[0]![1]).toBe('upstream (shop:7 and 2 more alone)');
  });

  test('a pause that the store did not take is named as such', () => {
    const sentences = pauseSentences(pause('retry-after', 0));
    expect(sentences.slice(2)).toEqual([
      'The store was out then, so no other process pauses. No command ends it.',
    ]);
  });
});
