/** Traffic as it is written in the form. */
export interface TrafficForm {
  readonly pattern: 'bursts' | 'steady' | 'random' | 'clicks';
  /** Requests per second, on average. */
  readonly rate: string;
  /** Requests in a burst. */
  readonly size: string;
  /** Seconds from one burst to the next. */
  readonly every: string;
  /** Seconds that the run lasts. */
  readonly length: string;
  /** Do requests wait for their permits (`acquire`), or take a no (`consume`)? */
  readonly waits: boolean;
  /** The longest wait: a duration of the core. Empty: no limit. */
  readonly timeout: string;
  /** Seconds for which a request holds its `concurrency` permit. */
  readonly holds: string;
}

export const PATTERNS = ['bursts', 'steady', 'random', 'clicks'] as const;

export const TRAFFIC: TrafficForm = {
  pattern: 'bursts',
  rate: '2',
  size: '8',
  every: '6',
  length: '30',
  waits: false,
  timeout: '',
  holds: '2',
};

/** More would be neither seen nor drawn. */
const MOST = 2000;
/** Requests of a burst are a few ms apart, as they come through a network. */
const GAP = 20;

/** @throws RangeError naming the field */
export function numberIn(form: TrafficForm, name: 'rate' | 'size' | 'every' | 'length' | 'holds'): number {
  const [from, to] = { rate: [0, 200], size: [1, 500], every: [0.1, 600], length: [1, 600], holds: [0, 600] }[
    name
  ] as [number, number];
  const value = form[name].trim() === '' ? Number.NaN : Number(form[name]);
  if (!(value >= from && value <= to)) {
    throw new RangeError(`${name} must be a number from ${from} to ${to}, not '${form[name]}'`);
  }
  return value;
}

/**
 * When requests come, in whole ms, in order.
 * @param clicks what was clicked, ms
 * @throws RangeError naming the field
 */
export function momentsOf(form: TrafficForm, clicks: readonly number[] = []): number[] {
  const length = numberIn(form, 'length') * 1000;
  const moments = [...generated(form, length), ...clicks]
    .map(Math.round)
    .filter((moment) => moment >= 0 && moment < length)
    .sort((a, b) => a - b);
  if (moments.length > MOST) {
    throw new RangeError(`${moments.length} requests are too many to draw: at most ${MOST}`);
  }
  return moments;
}

function generated(form: TrafficForm, length: number): number[] {
  if (form.pattern === 'clicks') return [];
  if (form.pattern === 'bursts') {
    const [size, every] = [Math.floor(numberIn(form, 'size')), numberIn(form, 'every') * 1000];
    const bursts = Math.ceil(length / every);
    return Array.from({ length: size * bursts }, (_, i) => Math.floor(i / size) * every + (i % size) * GAP);
  }
  const rate = numberIn(form, 'rate');
  const steady = Array.from({ length: Math.ceil((length / 1000) * rate) }, (_, i) => (i * 1000) / rate);
  return form.pattern === 'steady' ? steady : scattered(steady.length, length);
}

/** Moments as independent callers come. The same ones each time, so that a shared link shows the same run. */
function scattered(count: number, length: number): number[] {
  let seed = 1;
  return Array.from({ length: count }, () => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
    return (seed / 2 ** 32) * length;
  });
}
