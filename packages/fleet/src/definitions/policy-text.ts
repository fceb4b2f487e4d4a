import type { Policy } from '@sluice/core';

const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const;

const unitOf = (seconds: number) => UNITS.find(([, size]) => seconds >= size) ?? UNITS[3];

/** How long until something, in the two largest units that it has: `1 h 30 min`, `1 d 7 s`, `250 ms`. Never shorter than it is. */
export function lengthText(ms: number): string {
  if (ms < 1_000) return `${Math.ceil(ms)} ms`;
  const seconds = Math.ceil(ms / 1_000);
  const [unit, size] = unitOf(seconds);
  const rest = seconds % size;
  const [smaller, step] = unitOf(rest);
  const rounded = seconds - rest + Math.ceil(rest / step) * step;
  // 23 h 59 min 55 s becomes a day, and 1 d 59 min 55 s a day and an hour.
  if (rounded > seconds) return lengthText(rounded * 1_000);
  const text = `${Math.floor(seconds / size)} ${unit}`;
  return rest === 0 ? text : `${text} ${rest / step} ${smaller}`;
}

/** A length that someone has chosen, exactly: `1 d 3 h 5 min`, `1 s 500 ms`. */
function exactText(ms: number): string {
  if (!(ms >= 1_000)) return `${ms} ms`;
  let rest = Math.floor(ms / 1_000);
  const parts = UNITS.flatMap(([unit, size]) => {
    const whole = Math.floor(rest / size);
    rest %= size;
    return whole === 0 ? [] : [`${whole} ${unit}`];
  });
  const millis = Math.round((ms % 1_000) * 1_000) / 1_000;
  return [...parts, ...(millis === 0 ? [] : [`${millis} ms`])].join(' ');
}

type Numbers = Readonly<Record<string, number | string | boolean | undefined>>;

/** A policy in words, without the name of its algorithm: `100 per 1 min`. Of an unknown algorithm its numbers, as JSON. */
export function policyText({ algorithm, ...options }: Policy): string {
  const numbers: Numbers = { ...options };
  const { limit, capacity, refill, leak, period, burst, window, every, lease, slots, mode } = numbers;
  const per = (length: unknown) => (typeof length === 'number' ? exactText(length) : String(length));
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
