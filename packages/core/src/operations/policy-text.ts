import type { Policy } from '../algorithms/algorithm.js';

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
] as const;

/** A length of time in its two largest units: `1 h 30 min`, `12 s`, `250 ms`. Never shorter than it is. */
export function lengthText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`;
  const largest = UNITS.findIndex(([, size]) => Math.ceil(ms / 1_000) * 1_000 >= size);
  const [unit, size] = UNITS[largest]!;
  const [smaller, step] = UNITS[largest + 1] ?? ['', size];
  const whole = Math.ceil(ms / step) * step;
  // 23 h 59 min 55 s is rounded up to a day.
  if (whole > ms && whole >= (UNITS[largest - 1]?.[1] ?? Number.POSITIVE_INFINITY)) return lengthText(whole);
  const rest = (whole % size) / step;
  const text = `${Math.floor(whole / size)} ${unit}`;
  return rest === 0 ? text : `${text} ${rest} ${smaller}`;
}

type Numbers = Readonly<Record<string, number | string | boolean | undefined>>;

/** A policy in words, without the name of its algorithm: `100 per 1 min`. Of an unknown algorithm its numbers, as JSON. */
export function policyText({ algorithm, ...options }: Policy): string {
  const numbers: Numbers = { ...options };
  const { limit, capacity, refill, leak, period, burst, window, every, lease, slots, mode } = numbers;
  const per = (length: unknown) => (typeof length === 'number' ? lengthText(length) : String(length));
  switch (algorithm) {
    case 'fixedWindow':
      return `${limit} per ${per(window)}${calendarText(numbers)}`;
    case 'slidingWindow':
      return `${limit} in any ${per(window)}${slots === undefined ? '' : `, ${slots} slots`}`;
    case 'slidingLog':
      return `${limit} in any ${per(window)}`;
    case 'tokenBucket':
      return `${capacity} at once, ${refill} more every ${per(every)}${mode === 'interval' ? ' in batches' : ''}`;
    case 'gcra':
      return `${limit} per ${per(period)}${burst === undefined ? '' : `, ${burst} at once`}`;
    case 'leakyBucket':
      return `${capacity} at once, ${leak} ${leak === 1 ? 'leaves' : 'leave'} every ${per(every)}`;
    case 'concurrency':
      return `${limit} at the same time, leases of ${per(lease)}`;
    default:
      return JSON.stringify(numbers);
  }
}

/** ` by the clock`; of calendar windows ` from 15, in Europe/Berlin`. */
function calendarText({ align, window, timeZone, anchor }: Numbers): string {
  if (align !== 'clock') return '';
  if (typeof window === 'number' && timeZone === undefined) return ' by the clock';
  return `${anchor === undefined ? '' : ` from ${anchor}`}, in ${timeZone ?? 'UTC'}`;
}
