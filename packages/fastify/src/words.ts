const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Milliseconds as text, rounded up: `'1 second'`, `'2 minutes'`. */
export function inWords(ms: number): string {
  if (!Number.isFinite(ms)) return 'never';
  const seconds = Math.max(1, Math.ceil(ms / 1000)) * 1000;
  const [unit, length] = UNITS.find(([, each]) => seconds >= each)!;
  const amount = Math.ceil(seconds / length);
  return `${amount} ${unit}${amount === 1 ? '' : 's'}`;
}
