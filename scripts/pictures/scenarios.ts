import { admitted, between, busiest, type Offer, SECOND, spread } from './offer.js';
import { type Made, make, subjects, WINDOW } from './subjects.js';
import { code, table } from './table.js';

const MINUTE = 60 * SECOND;

interface Row extends Made, Partial<Pick<Offer, 'waits'>> {
  readonly note?: string;
  /** A call of the same client before all others. */
  readonly before?: number;
}

const label = ({ code: text, note, waits }: Row): string => {
  const more = [note, waits ? '`acquire`' : undefined].filter((part) => part !== undefined).join(', ');
  return more === '' ? code(text) : `${code(text)}, ${more}`;
};

/** The figures of the pictures. */
async function inThePictures(): Promise<string> {
  const rows = await Promise.all(
    subjects.map(async (subject) => {
      const went = await admitted(subject);
      const name = `[${code(subject.name)}](pictures/${subject.name}.svg)`;
      return [name, went.length, between(went, 9 * SECOND, 11 * SECOND), busiest(went, WINDOW).count];
    }),
  );
  return table(
    ['', `passed, of ${subjects[0]!.moments.length}`, 'at 9 to 11 s, of 20', 'busiest 10 s'],
    rows,
  );
}

/** Seed 001: a thousand in three seconds. @param seconds the calls of each second */
async function thousandInThreeSeconds(seconds: readonly number[]): Promise<string> {
  const moments = seconds.flatMap((count, second) => spread(second * SECOND, SECOND, count));
  const limit = { limit: 1000, window: '3s' };
  const rows: Row[] = [
    make('fixedWindow', limit),
    make('slidingWindow', limit),
    make('slidingLog', limit),
    make('tokenBucket', { capacity: 1000, refill: 1000, every: '3s' }),
    make('gcra', { limit: 1000, period: '3s', burst: 100 }),
    { ...make('leakyBucket', { capacity: 1000, leak: 1000, every: '3s' }), waits: true },
  ];
  const filled = await Promise.all(
    rows.map(async (row) => {
      const went = await admitted({ ...row, moments });
      const each = seconds.map((_, second) => between(went, second * SECOND, (second + 1) * SECOND));
      const later = went.length - each.reduce((sum, count) => sum + count, 0);
      return [label(row), ...each, later, moments.length - went.length, busiest(went, 3 * SECOND).count];
    }),
  );
  const head = [
    'calls passed in second',
    ...seconds.map((_, second) => String(second + 1)),
    'later',
    'refused',
    'busiest 3 s',
  ];
  return table(head, [['_calls made_', ...seconds, 0, 0, busiest(moments, 3 * SECOND).count], ...filled]);
}

/** Seeds 003 and 004: a hundred in the last second of a minute, a hundred in the first of the next. */
async function atTheEdge(): Promise<string> {
  const bursts = [...spread(59 * SECOND, SECOND, 100), ...spread(60 * SECOND, SECOND, 100)];
  const limit = { limit: 100, window: '1m' };
  const rows: Row[] = [
    make('fixedWindow', { ...limit, align: 'clock' }),
    make('fixedWindow', limit),
    { ...make('fixedWindow', limit), note: 'a call at 0:00 before', before: 0 },
    make('slidingWindow', limit),
    make('slidingLog', limit),
    make('tokenBucket', { capacity: 100, refill: 100, every: '1m' }),
    make('gcra', { limit: 100, period: '1m', burst: 10 }),
    { ...make('leakyBucket', { capacity: 100, leak: 100, every: '1m' }), waits: true },
  ];
  const filled = await Promise.all(
    rows.map(async (row) => {
      const went = await admitted({
        ...row,
        moments: row.before === undefined ? bursts : [row.before, ...bursts],
      });
      const during = [59, 60].map((second) => between(went, second * SECOND, (second + 1) * SECOND));
      return [label(row), ...during, between(went, 61 * SECOND, Infinity), busiest(went, MINUTE).count];
    }),
  );
  return table(['', '0:59, of 100', '1:00, of 100', 'later', 'busiest 60 s'], filled);
}

/** Seed 004: a minute in slots. */
async function slotsOfAMinute(): Promise<string> {
  const limit = { limit: 100, window: '1m' };
  const rows: Row[] = [
    ...[1, 10, 60, 600].map((slots) => make('slidingWindow', { ...limit, slots })),
    make('slidingLog', limit),
  ];
  const steady = spread(0, 21 * MINUTE, 21 * 600);
  /** A hundred calls in the last second of a minute, then one every 100 ms. */
  const burst = [...spread(59 * SECOND, SECOND, 100), ...spread(MINUTE, 2 * MINUTE, 1200)];
  const filled = await Promise.all(
    rows.map(async (row) => {
      const steadily = await admitted({ ...row, moments: steady });
      const after = await admitted({ ...row, moments: burst });
      // From the first call to the one that reuses its permit for the tenth time.
      const rate = (1000 * MINUTE) / (steadily[1000]! - steadily[0]!);
      return [
        label(row),
        between(after, 59 * SECOND, 60 * SECOND),
        between(after, 60 * SECOND, 61 * SECOND),
        clock(after[100]!),
        Math.round(rate * 10) / 10,
        Math.max(busiest(steadily, MINUTE).count, busiest(after, MINUTE).count),
      ];
    }),
  );
  return table(
    ['', '0:59, of 100', '1:00, of 100', 'next one passes at', 'steadily, a minute', 'busiest 60 s'],
    filled,
  );
}

const clock = (moment: number): string =>
  `${Math.floor(moment / MINUTE)}:${((moment % MINUTE) / SECOND).toFixed(1).padStart(4, '0')}`;

/** Seeds 003 and 004: a burst into a bucket that admits it, and into a bucket that shapes it. */
async function shaping(): Promise<string> {
  const moments = Array.from({ length: 20 }, () => 0);
  const token = make('tokenBucket', { capacity: 10, refill: 10, every: '1s' });
  const leaky = make('leakyBucket', { capacity: 10, leak: 10, every: '1s' });
  const rows: Row[] = [
    { ...token, note: '`consume`' },
    { ...leaky, note: '`consume`' },
    { ...token, waits: true },
    { ...leaky, waits: true },
  ];
  const filled = await Promise.all(
    rows.map(async (row) => {
      const went = await admitted({ ...row, moments });
      const by = [0, 0.5, 1].map((time) => between(went, 0, time * SECOND + 1));
      const gaps = went.slice(1).map((moment, i) => moment - went[i]!);
      return [label(row), ...by, 20 - went.length, `${Math.min(...gaps) / 1000} ms`];
    }),
  );
  return table(
    ['passed, of 20 calls at once', 'at 0 s', 'by 0.5 s', 'by 1 s', 'refused', 'least distance'],
    filled,
  );
}

/** The tables of the page, by the names of their markers. */
export async function tables(): Promise<Readonly<Record<string, string>>> {
  return {
    pictures: await inThePictures(),
    'thousand-1': await thousandInThreeSeconds([10, 10, 980, 900, 100, 0]),
    'thousand-2': await thousandInThreeSeconds([1000, 300, 300, 300, 300, 300]),
    edge: await atTheEdge(),
    slots: await slotsOfAMinute(),
    shaping: await shaping(),
  };
}
