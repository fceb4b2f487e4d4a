import { frameAt, levelOf } from '../playground/drawing.ts';
import type { Run } from '../playground/run.ts';

/** The picture in its own units: a gate with an opening for each permit, above water. */
export const SCENE = { width: 400, height: 300, left: 40, right: 360, sill: 160, water: 252 } as const;

/** How long a request falls until the gate decides, ms. */
export const FALL = 1300;
/** How long a request is shown after its decision, ms. */
const AFTER = 1100;
/** How long an opening takes to close behind a request, ms. */
const CLOSING = 220;
/** How far an opening is open at most while its permit is not whole. */
const NARROW = 0.55;
/** Permits between two looks at the key are estimated: this is a whole one. */
const WHOLE = 0.97;

const TOP = -10;
/** Speed at the gate, units per ms: the fall gathers speed evenly. */
const SPEED = (2 * (SCENE.sill - TOP)) / FALL;

export interface Dot {
  /** Its request: the place in `run.requests`. */
  readonly key: number;
  readonly outcome: 'falling' | 'passed' | 'denied';
  readonly x: number;
  readonly y: number;
  /** 0 to 1. */
  readonly opacity: number;
}

export interface Ripple {
  readonly key: number;
  readonly x: number;
  readonly radius: number;
  readonly opacity: number;
}

export interface Scene {
  readonly dots: readonly Dot[];
  readonly ripples: readonly Ripple[];
  /** How far each opening is open, 0 to 1, from left to right. */
  readonly openings: readonly number[];
}

/** The middle of an opening. */
export const gateX = (gate: number, gates: number): number =>
  SCENE.left + ((gate + 0.5) * (SCENE.right - SCENE.left)) / gates;

/** What a run shows at a moment, ms; before 0 the first requests already fall. Without a run: an open gate. */
export function sceneAt(run: Run | undefined, at: number, gates: number): Scene {
  if (run === undefined) return { dots: [], ripples: [], openings: Array(gates).fill(1) };
  const dots: Dot[] = [];
  const ripples: Ripple[] = [];
  let taken = 0;
  run.requests.forEach((request, key) => {
    const passes = request.outcome === 'passed';
    // Nobody bounces off the opening that opens next, order[taken % gates], nor off the one that closes just now, before it.
    const gate = order(gates)[(passes ? taken : taken + 1 + (key % (gates - 2))) % gates]!;
    if (passes) taken += 1;
    const since = at - request.at;
    if (since < -FALL || since > AFTER) return;
    const x = gateX(gate, gates);
    if (since < 0) dots.push({ key, outcome: 'falling', x, ...fallen(since) });
    else if (!passes) dots.push({ key, outcome: 'denied', ...bounced(x, key, since) });
    else {
      const depth = SCENE.sill + SPEED * since - SCENE.water;
      if (depth < 0) dots.push({ key, outcome: 'passed', x, y: SCENE.water + depth, opacity: 1 });
      else ripples.push({ key, x, ...rippled(depth / SPEED) });
    }
  });
  return { dots, ripples, openings: openingsAt(run, at, gates) };
}

function fallen(since: number) {
  const share = 1 + since / FALL;
  return { y: TOP + (SCENE.sill - TOP) * share ** 2, opacity: Math.min(1, share * 5) };
}

/** A denied request jumps off the gate, to the left or to the right, and fades. */
function bounced(x: number, key: number, since: number) {
  const share = since / AFTER;
  const side = key % 2 === 0 ? 1 : -1;
  return {
    x: x + side * 46 * share,
    y: SCENE.sill - 14 - 300 * share * (1 - share),
    opacity: Math.min(1, (1 - share) * 2.2),
  };
}

function rippled(since: number) {
  const share = Math.min(1, since / 800);
  return { radius: 5 + 24 * share, opacity: (1 - share) * 0.8 };
}

/** The openings in the order in which permits are taken: all of them in turn, and none beside the one before. */
function order(gates: number): readonly number[] {
  const all = Array.from({ length: gates }, (_, gate) => gate);
  return [...all.filter((gate) => gate % 2 === 0), ...all.filter((gate) => gate % 2 === 1)];
}

/**
 * A request closes an opening. The permits that come back open them in the same order. A part of a permit shows as a part of an opening,
 * too narrow for a request.
 */
function openingsAt(run: Run, at: number, gates: number): number[] {
  const went = run.requests.flatMap((request) => (request.went === undefined ? [] : [request.went]));
  const taken = went.filter((moment) => moment <= at).length;
  const back = permitsBack(run, at, went);
  const openings = Array<number>(gates).fill(1);
  for (let n = Math.max(0, taken - gates); n < taken; n += 1) {
    const closing = 1 - (at - went[n]!) / CLOSING;
    const permit = back - n;
    const opening = permit > WHOLE ? 1 : permit * NARROW;
    openings[order(gates)[n % gates]!] = Math.min(1, Math.max(0, closing, opening));
  }
  return openings;
}

/** Permits that came back since the start, with the part of the next one. Between two looks at the key: in proportion. */
function permitsBack(run: Run, at: number, went: readonly number[]): number {
  const step = run.length / (run.frames.length - 1);
  const backAt = (moment: number) => {
    const frame = frameAt(run, Math.max(0, moment));
    return levelOf(run, frame) + went.filter((one) => one <= frame.at).length - run.limit;
  };
  const [before, after] = [backAt(at), backAt(at + step)];
  return before + (after - before) * (Math.max(0, at / step) % 1);
}
