import type { Frame, Request, Run } from './run.ts';

type Outcome = Request['outcome'];
/** One SVG path for each outcome: thousands of dots are three elements. */
export type Dots = Readonly<Record<Outcome, string>>;

const RADIUS = 3.5;
const STEP = 2 * RADIUS + 1;

const shapes: Readonly<Record<Outcome, (x: number, y: number) => string>> = {
  passed: circle,
  waiting: circle,
  denied: (x, y) =>
    `M${x - RADIUS},${y - RADIUS}l${2 * RADIUS},${2 * RADIUS}m${-2 * RADIUS},0l${2 * RADIUS},${-2 * RADIUS}`,
};

function circle(x: number, y: number): string {
  const r = `${RADIUS},${RADIUS} 0 1,0`;
  return `M${x - RADIUS},${y}a${r} ${2 * RADIUS},0a${r} ${-2 * RADIUS},0`;
}

/** Requests as dots over a line of time, those of the same moment on top of each other. */
export function dotsOf(
  requests: readonly { readonly at: number; readonly outcome: Outcome }[],
  { length, width, height }: { readonly length: number; readonly width: number; readonly height: number },
): Dots {
  const columns = new Map<number, Outcome[]>();
  for (const { at, outcome } of requests) {
    const column = Math.floor(((at / length) * width) / STEP);
    columns.set(column, columns.get(column) ?? []);
    columns.get(column)!.push(outcome);
  }
  const highest = Math.max(1, ...[...columns.values()].map((column) => column.length));
  const step = Math.min(STEP, (height - STEP) / Math.max(1, highest - 1));
  const paths: Record<Outcome, string> = { passed: '', denied: '', waiting: '' };
  for (const [column, inColumn] of columns) {
    inColumn.forEach((outcome, i) => {
      const [x, y] = [round((column + 0.5) * STEP), round(height - STEP / 2 - i * step)];
      paths[outcome] += shapes[outcome](x, y);
    });
  }
  return paths;
}

const round = (value: number): number => Math.round(value * 10) / 10;

/** The latest look at the key until `at`. */
export function frameAt({ frames, length }: Run, at: number): Frame {
  const guess = Math.floor((at / length) * (frames.length - 1));
  return frames[Math.min(frames.length - 1, Math.max(0, guess))]!;
}

/** Does every part of a permit come back by itself, as in a bucket? Other permits come back whole, at one moment. */
const isSteady = ({ policy, kind, limit }: Run): boolean =>
  kind === 'bucket' && !('mode' in policy) && limit > 0;

/** Permits that are there; of a bucket also parts of one. */
export function levelOf(run: Run, { remaining, reset }: Frame): number {
  const { limit, window } = run;
  if (!isSteady(run) || !Number.isFinite(reset)) return remaining;
  return Math.min(limit, Math.max(0, limit - (reset * limit) / window));
}

/** The permits that are there as a line over time. */
export function levelPath(run: Run, width: number, height: number): string {
  const points = run.frames.map((frame) => ({
    x: round((frame.at / run.length) * width),
    y: run.limit === 0 ? height : round(height * (1 - levelOf(run, frame) / run.limit)),
  }));
  const line = points.map(({ x, y }) => (isSteady(run) ? `L${x},${y}` : `H${x}V${y}`)).join('');
  return `M0,${height}${line}L${width},${height}Z`;
}

/** Of a fixed window: where the windows are that were begun, ms. */
export function windowsOf({ kind, frames, limit, window }: Run): readonly number[] {
  if (kind !== 'window') return [];
  const starts = frames
    .filter(({ remaining }) => remaining < limit)
    .map(({ at, reset }) => Math.round(at + reset - window));
  return [...new Set(starts)];
}

/** What a window sees at a moment. */
export interface Strip {
  readonly from: number;
  readonly to: number;
  /** When the requests in it passed. */
  readonly marks: readonly number[];
  /** Where its slots begin. */
  readonly slots: readonly number[];
}

/** The window of a policy that has one. A run begins at a full day, so slots begin at multiples of their length. */
export function stripAt(run: Run, at: number): Strip | undefined {
  const { policy, kind, window, requests, limit } = run;
  if (kind !== 'window' && kind !== 'log') return undefined;
  const frame = frameAt(run, at);
  const begun = kind === 'window' && frame.remaining < limit;
  const to = begun ? frame.at + frame.reset : at;
  const slot = 'slots' in policy ? window / Number(policy.slots) : 0;
  // The oldest slot counts whole.
  const from = slot > 0 ? Math.floor((to - window) / slot) * slot : to - window;
  const slots = slot > 0 ? Math.ceil((to - from) / slot) : 0;
  return {
    from,
    to,
    marks: requests.flatMap(({ went }) => (went !== undefined && went > from && went <= at ? [went] : [])),
    slots: Array.from({ length: slots }, (_, i) => from + i * slot),
  };
}

const LABEL = 32;

/** Steps of the axis that leave room for their labels. */
export function ticksOf(length: number, width: number): readonly number[] {
  const least = (length / width) * 50;
  const step =
    [500, 1000, 2000, 5000, 10_000, 20_000, 30_000, 60_000, 120_000].find((ms) => ms >= least) ?? 300_000;
  const last = length * (1 - LABEL / width);
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => i * step);
}

/** What happened until `at`, in numbers. */
export function countsAt({ requests }: Run, at: number) {
  const until = requests.filter((request) => request.at <= at);
  const passed = until.filter(({ went }) => went !== undefined && went <= at);
  const denied = until.filter(({ outcome }) => outcome === 'denied').length;
  const longest = Math.max(0, ...passed.map((request) => request.went! - request.at));
  return {
    passed: passed.length,
    denied,
    waiting: until.length - passed.length - denied,
    longest,
    holding: passed.filter(({ ended }) => ended === undefined || ended > at).length,
  };
}

export const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
