import type { Series } from './plot.tsx';
import type { Live } from './use-live.ts';

/** Seconds of this process that are plotted. */
const LENGTH = 180;
/** Seconds over which the figures beside a plot are averaged. */
const RECENT = 5;

/** Calls per second of a limiter. @param ofAll of all processes, as far as they count */
export function seriesOf({ seconds, usage }: Live, name: string, ofAll: boolean): Series {
  if (ofAll && usage !== null) {
    const { allowed = [], denied = [] } = usage.limiters[name] ?? {};
    const step = usage.step / 1000;
    const rate = (counts: readonly (number | null)[]) => counts.map((count) => count && count / step);
    return { end: usage.end / 1000, step, allowed: rate(allowed), denied: rate(denied) };
  }
  const pairs = seconds.counts[name] ?? [];
  const { end, watched } = seconds;
  const padding = Array.from({ length: LENGTH - pairs.length }, (_, i) => (i < LENGTH - watched ? null : 0));
  return {
    end: end / 1000,
    step: 1,
    allowed: [...padding, ...pairs.map(([allowed]) => allowed)],
    denied: [...padding, ...pairs.map(([, denied]) => denied)],
  };
}

/** The latest rates; undefined if nothing was counted. */
export function figures({ step, allowed, denied }: Series): readonly (number | undefined)[] {
  const latest = -Math.max(1, Math.round(RECENT / step));
  return [allowed, denied].map((values) => {
    const counted = values.slice(latest).filter((value) => value !== null);
    return counted.length === 0 ? undefined : counted.reduce((sum, value) => sum + value, 0) / counted.length;
  });
}
