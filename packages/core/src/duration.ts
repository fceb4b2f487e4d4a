import { describe, didYouMean } from './options.js';

/** A length of time: `'250ms'`, `'5s'`, `'1m30s'`, `'1.5h'`, `'1d'`, `'1 minute'`, `'2 hours'`, or a number of milliseconds. */
export type Duration = string | number;

const MICROS = { ms: 1_000, s: 1_000_000, m: 60_000_000, h: 3_600_000_000, d: 86_400_000_000 } as const;
const PART = /(\d{1,15}(?:\.\d{1,6})?)(ms|s|m|h|d)/g;
const WHOLE = /^(?:\d{1,15}(?:\.\d{1,6})?(?:ms|s|m|h|d))+$/;
const WORDS = /^(\d{1,15}(?:\.\d{1,6})?) (millisecond|second|minute|hour|day)s?$/;
/** `'1 month'`: it has no fixed length, so it is no duration. */
export const CALENDAR_LENGTH = /^(\d{1,4}) ?(week|month|year)s?$/;
const OF_ADVERB: Readonly<Record<string, string>> = {
  secondly: '1s',
  minutely: '1m',
  hourly: '1h',
  daily: '1d',
  weekly: '1 week',
  monthly: '1 month',
  yearly: '1 year',
  annually: '1 year',
};
const UNIT_OF_WORD = { millisecond: 'ms', second: 's', minute: 'm', hour: 'h', day: 'd' } as const;

/** The longest duration: ten years of 365 days. Sums with an epoch time in µs stay exact integers. */
export const MAX_MICROS = 3650 * MICROS.d;

/**
 * Converts a duration to whole microseconds.
 * @param or other accepted values, for the message: `', or false for none'`
 * @throws RangeError if it is no duration, is finer than a microsecond, below `min` or above ten years
 */
export function toMicros(what: string, value: Duration, min = 1, or = ''): number {
  const micros = typeof value === 'number' ? value * MICROS.ms : parse(value);
  const whole = Math.round(micros);
  // A long duration in ms that was computed from whole µs has a rounding error above a thousandth.
  const isWhole = Math.abs(whole - micros) <= 1e-3 || whole / MICROS.ms === value;
  if (!(whole >= min && whole <= MAX_MICROS && isWhole)) {
    const isCalendar = typeof value === 'string' && CALENDAR_LENGTH.test(value);
    const adverb = String(value).toLowerCase();
    const why = isCalendar
      ? ": only the window of fixedWindow is one of the calendar. Write days, such as '30d'"
      : didYouMean(Object.hasOwn(OF_ADVERB, adverb) ? OF_ADVERB[adverb] : undefined);
    const least = min === 0 ? '0' : min < MICROS.ms ? `${min} µs` : `${min / MICROS.ms} ms`;
    throw new RangeError(
      `${what} must be a duration such as '250ms', '5s', '1m30s', '1h' or a number of milliseconds, ` +
        `from ${least} to 3650 days in whole microseconds${or}, not ${describe(value)}${why}`,
    );
  }
  return whole;
}

function parse(text: unknown): number {
  if (typeof text !== 'string' || text.length > 100) return Number.NaN;
  const [, count, word] = WORDS.exec(text) ?? [];
  if (word !== undefined) return Number(count) * MICROS[UNIT_OF_WORD[word as keyof typeof UNIT_OF_WORD]];
  if (!WHOLE.test(text)) return Number.NaN;
  let sum = 0;
  let last = Number.POSITIVE_INFINITY;
  for (const [, amount, unit] of text.matchAll(PART)) {
    const micros = MICROS[unit as keyof typeof MICROS];
    if (micros >= last) return Number.NaN; // '30s1m' or '1s1s' is probably a mistake
    sum += Number(amount) * micros;
    last = micros;
  }
  return sum;
}

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

/** A length that someone has chosen, exactly: `1 d 3 h 5 min`, `1 s 500 ms`. A length of the calendar, `1 month`, is a text. */
export function exactLength(ms: number | string): string {
  if (typeof ms !== 'number') return String(ms);
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
