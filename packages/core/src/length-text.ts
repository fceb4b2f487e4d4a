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
