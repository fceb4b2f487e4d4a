import type { PolicyState } from '../../src/messages.ts';

const UNITS: readonly [number, string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
];

/** `90000` → `1 min 30 s`. */
export function duration(ms: number): string {
  if (ms > 0 && ms < 100) return '0.1 s';
  if (ms < 60_000) return `${ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000)} s`;
  const at = UNITS.findIndex(([unit]) => ms >= unit);
  const [unit, name] = UNITS[at]!;
  const [next, nextName] = UNITS[at + 1] ?? [1000, 's'];
  const rest = Math.floor((ms % unit) / next);
  return `${Math.floor(ms / unit)} ${name}${rest > 0 ? ` ${rest} ${nextName}` : ''}`;
}

export const number = (value: number): string =>
  value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 });

export const clockTime = (ms: number): string => new Date(ms).toLocaleTimeString();

const plural = (count: number, one: string, several: string): string => (count === 1 ? one : several);

const permits = (count: number): string => `${number(count)} ${plural(count, 'permit', 'permits')}`;

/** What a state means, at a moment of the store's clock (µs). */
export function stateInWords({ view, remaining }: PolicyState, now: number, leaky: boolean): string {
  const until = (moment: number) => duration(Math.max(0, moment - now) / 1000);
  switch (view.kind) {
    case 'bucket': {
      const level = levelAt(view, now);
      const there = leaky
        ? `${number(view.capacity - level)} of ${permits(view.capacity)} are in the bucket`
        : `${number(level)} of ${permits(view.capacity)} are there`;
      if (level >= view.capacity) return `${there}.`;
      return `${there}; ${leaky ? 'empty' : 'full'} again in ${until(view.fullAt)}.`;
    }
    case 'window': {
      const used = `${number(view.used)} of ${permits(view.limit)} are used`;
      if (view.end === undefined || view.end <= now)
        return `No window has begun: all ${permits(view.limit)} are there.`;
      return `${used}; the window ends in ${until(view.end)}.`;
    }
    case 'log':
      return `${number(view.limit - Math.max(0, remaining))} of ${permits(view.limit)} are used in the last ${duration(view.window / 1000)}.`;
    case 'holders': {
      const calls = view.waiting.length;
      const waiting = calls === 0 ? '' : `; ${calls} ${plural(calls, 'call waits', 'calls wait')}`;
      return `${number(view.held)} of ${permits(view.limit)} are held${waiting}.`;
    }
  }
}

export const bookedInWords = (calls: number): string =>
  calls === 0
    ? ''
    : ` ${calls} ${plural(calls, 'booked call waits for its moment', 'booked calls wait for their moment')}.`;

type Bucket = Extract<PolicyState['view'], { kind: 'bucket' }>;

/** The level of a bucket that nobody touched since. Batches come with the next message. */
export function levelAt({ level, capacity, perSecond, nextBatch, fullAt }: Bucket, now: number): number {
  if (nextBatch !== undefined || level >= capacity) return level;
  return Math.min(capacity, capacity - (Math.max(0, fullAt - now) / 1_000_000) * perSecond);
}

/** What has set a block: nothing for an operator. */
export const stepOf = ({ escalation }: Pick<PolicyState, 'escalation'>): string =>
  escalation?.blocks ? ` by escalation, step ${escalation.step} of ${escalation.steps},` : '';
