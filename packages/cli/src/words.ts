import type { Policy, StateView } from '@sluice/core';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A length of time in its two largest units: `1 h 30 min`, `12 s`, `250 ms`. Never shorter than it is. */
export function lengthOf(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`;
  const largest = UNITS.findIndex(([, size]) => Math.ceil(ms / 1_000) * 1_000 >= size);
  const [unit, size] = UNITS[largest]!;
  const [smaller, step] = UNITS[largest + 1] ?? ['', size];
  const whole = Math.ceil(ms / step) * step;
  // 23 h 59 min 55 s is rounded up to a day.
  if (whole > ms && whole >= (UNITS[largest - 1]?.[1] ?? Number.POSITIVE_INFINITY)) return lengthOf(whole);
  const rest = (whole % size) / step;
  const text = `${Math.floor(whole / size)} ${unit}`;
  return rest === 0 ? text : `${text} ${rest} ${smaller}`;
}

export const lengthOfMicros = (micros: number): string => lengthOf(micros / 1_000);

/** Local time of a moment: `14:03:05`, with the date if it is another day than `now`. Both µs since 1970. */
export function timeOf(micros: number, now: number): string {
  const [at, today] = [new Date(micros / 1_000), new Date(now / 1_000)];
  const two = (number: number) => String(number).padStart(2, '0');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  if (at.toDateString() === today.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** `at 14:03:05, in 12 s`. */
export const momentOf = (micros: number, now: number): string =>
  `at ${timeOf(micros, now)}, in ${lengthOfMicros(Math.max(0, micros - now))}`;

/** `1 permit`, `3 permits`. */
export const count = (number: number, one: string, several = `${one}s`): string =>
  `${number} ${number === 1 ? one : several}`;

type Numbers = Readonly<Record<string, number | string | boolean | undefined>>;

/** A policy in a line: `100 per 1 min (fixedWindow)`. */
export function policyOf(policy: Policy): string {
  const { algorithm, ...numbers } = policy as Policy & Numbers;
  const text = numbersOf(algorithm, numbers);
  return `${text} (${algorithm})`;
}

function numbersOf(algorithm: string, numbers: Numbers): string {
  const {
    limit,
    capacity,
    refill,
    leak,
    period,
    burst,
    window,
    every,
    lease,
    align,
    slots,
    mode,
    timeZone,
    anchor,
  } = numbers;
  const per = (length: unknown) => (typeof length === 'number' ? lengthOf(length) : String(length));
  switch (algorithm) {
    case 'fixedWindow':
      return `${limit} per ${per(window)}${align === 'clock' ? calendarOf(window, timeZone, anchor) : ''}`;
    case 'slidingWindow':
      return `${limit} in any ${per(window)}${slots === undefined ? '' : `, ${slots} slots`}`;
    case 'slidingLog':
      return `${limit} in any ${per(window)}`;
    case 'tokenBucket':
      return `${capacity} at once, ${refill} more every ${per(every)}${mode === 'interval' ? ' in batches' : ''}`;
    case 'gcra':
      return `${limit} per ${per(period)}${burst === undefined ? '' : `, ${burst} at once`}`;
    case 'leakyBucket':
      return `${capacity} at once, ${leak} leave every ${per(every)}`;
    case 'concurrency':
      return `${limit} at the same time, leases of ${per(lease)}`;
    default:
      return JSON.stringify(numbers);
  }
}

/** ` by the clock`; of calendar windows ` from 15, in Europe/Berlin`. */
function calendarOf(window: unknown, timeZone: unknown, anchor: unknown): string {
  if (typeof window === 'number' && timeZone === undefined) return ' by the clock';
  return `${anchor === undefined ? '' : ` from ${anchor}`}, in ${timeZone ?? 'UTC'}`;
}

/** A state in a sentence. */
export function stateOf(view: StateView, now: number): string {
  switch (view.kind) {
    case 'bucket': {
      const level = Math.floor(view.level * 100) / 100;
      if (view.fullAt <= now) return `${view.capacity} of ${view.capacity}: the bucket is full`;
      return `${level} of ${view.capacity} in the bucket, full ${momentOf(view.fullAt, now)}`;
    }
    case 'window':
      if (view.end === undefined) return `0 of ${view.limit} used: no window has begun`;
      return `${view.used} of ${view.limit} used in the window that ends ${momentOf(view.end, now)}`;
    case 'log': {
      const [first] = view.entries;
      const used = `${view.used} of ${view.limit} used in the last ${lengthOfMicros(view.window)}`;
      if (first === undefined) return used;
      return `${used}; the next ${count(first.permits, 'permit')} back ${momentOf(first.at + view.window, now)}`;
    }
    case 'holders':
      return `${view.held} of ${view.limit} held by ${count(view.holders.length, 'call')}, ${view.waiting.length} waiting`;
  }
}
