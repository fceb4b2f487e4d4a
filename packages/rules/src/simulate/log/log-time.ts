/** The latest moment that can be replayed, µs since 1970: the year 2200. Later moments and long windows would lose microseconds. */
const LATEST = Date.UTC(2200, 0, 1) * 1000;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const ACCESS_LOG = /^(\d\d)\/([A-Z][a-z]{2})\/(\d{4}):(\d\d):(\d\d):(\d\d) ([+-])(\d\d)(\d\d)$/;
const ISO =
  /^(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9}))?\s?(?:(Z)|([+-])(\d\d):?(\d\d)?)?$/i;
const NUMBER = /^\d{1,20}(?:\.\d{1,9})?$/;

/** `22/Nov/2026:13:55:36 +0100`. @returns µs since 1970; undefined if it is not such a moment */
export function accessLogTime(text: string): number | undefined {
  const [, day, month, year, hour, minute, second, sign, zoneHour, zoneMinute] = ACCESS_LOG.exec(text) ?? [];
  if (day === undefined) return undefined;
  const time = utc(year!, MONTHS.indexOf(month!), day, hour!, minute!, second!);
  return time === undefined ? undefined : checked(time - zoneOf(sign, zoneHour, zoneMinute));
}

/** ISO 8601, by default in UTC. @returns µs since 1970; undefined if it is not such a moment */
export function isoTime(text: string): number | undefined {
  const [, year, month, day, hour, minute, second, fraction = '', , sign, zoneHour, zoneMinute] =
    ISO.exec(text) ?? [];
  if (year === undefined) return undefined;
  const time = utc(year, Number(month) - 1, day!, hour!, minute!, second!);
  if (time === undefined) return undefined;
  return checked(time + Number(fraction.padEnd(6, '0').slice(0, 6)) - zoneOf(sign, zoneHour, zoneMinute));
}

/** A moment in JSON: ISO 8601, or a number since 1970, whose size shows whether it is s, ms, µs or ns. */
export function timeOfValue(value: unknown): number | undefined {
  if (typeof value === 'number') return ofNumber(value);
  if (typeof value !== 'string') return undefined;
  return NUMBER.test(value) ? ofNumber(Number(value)) : (isoTime(value) ?? accessLogTime(value));
}

function ofNumber(value: number): number | undefined {
  if (!(value >= 0)) return undefined;
  const micros = value < 1e11 ? value * 1e6 : value < 1e14 ? value * 1e3 : value < 1e17 ? value : value / 1e3;
  return checked(Math.round(micros));
}

/** Moment, µs; undefined for the 30th of February. */
function utc(
  year: string,
  month: number,
  day: string,
  hour: string,
  minute: string,
  second: string,
): number | undefined {
  const ms = Date.UTC(Number(year), month, Number(day), Number(hour), Number(minute));
  const valid =
    month >= 0 && new Date(ms).getUTCDate() === Number(day) && Number(hour) < 24 && Number(minute) < 60;
  // A leap second counts as the next second.
  return valid && Number(second) <= 60 ? (ms + Number(second) * 1000) * 1000 : undefined;
}

const zoneOf = (sign = '+', hours = '0', minutes = '0'): number =>
  (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes)) * 60_000_000;

const checked = (time: number): number | undefined => (time >= 0 && time < LATEST ? time : undefined);
