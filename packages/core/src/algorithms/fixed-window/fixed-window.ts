import { type Duration, toMicros } from '../../duration.js';
import { checkInteger, checkOptions } from '../../options.js';
import type { Algorithm, Parameters, Policy, Question, State, Step } from '../algorithm.js';
import { NEVER } from '../algorithm.js';
import { fixedWindowScript } from './fixed-window.script.js';

export interface FixedWindowOptions {
  /** Permits in one window: a whole number ≥ 1. */
  readonly limit: number;
  /** How long a window lasts, counted from the first call that takes a permit in it. */
  readonly window: Duration;
}

export interface FixedWindowPolicy extends Policy {
  readonly algorithm: 'fixedWindow';
  readonly limit: number;
  /** Milliseconds. */
  readonly window: number;
}

/**
 * A counter: `limit` permits from the first call on, until `window` has passed. Around the edge between two windows up to
 * 2 × `limit` calls can pass within one window's length.
 * @throws RangeError naming the number that is not acceptable
 */
export function fixedWindow(options: FixedWindowOptions): FixedWindowPolicy {
  checkOptions('fixedWindow', options, ['limit', 'window']);
  return {
    algorithm: 'fixedWindow',
    limit: checkInteger('fixedWindow: limit', options.limit, 1),
    window: toMicros('fixedWindow: window', options.window) / 1000,
  };
}

/**
 * State: [end of the last window that has permits taken, permits taken in it, moment of the last write]. The third number
 * is there only while that window lies ahead: while calls are booked. Without it an `end` further away than one window
 * means that the clock went back.
 */
function step([limit, window]: Parameters, state: State | undefined, now: number, question: Question): Step {
  const { operation, cost } = question;
  let end = now + window!;
  let used = 0;
  let kept = state;
  if (state !== undefined && state[0]! > now) {
    const seen = state[2];
    end = seen === undefined ? Math.min(state[0]!, end) : state[0]! - Math.max(0, seen - now);
    used = state[1]!;
    if (end !== state[0]) kept = keep(end, used, window!, now); // a clock that went back is repaired for good
  }

  if (operation === 'refund') {
    if (used > 0 && question.at < end && question.at >= end - window!) {
      used = Math.max(0, used - cost);
      if (used === 0 && end - window! > now) {
        end -= window!; // a booked window that nobody wants any more: the one before it is the last again, and full
        used = limit!;
      }
      kept = used === 0 ? undefined : keep(end, used, window!, now);
    }
    return answer(kept, true, 0, end, used, limit!, window!, now);
  }

  if (cost > limit!) return answer(kept, false, NEVER, end, used, limit!, window!, now);
  const fits = used + cost <= limit!;
  const wait = fits ? Math.max(0, end - window! - now) : end - now;
  const allowed = wait <= question.maxWait;
  if (allowed && operation === 'consume' && cost > 0) {
    if (!fits) end += window!;
    used = fits ? used + cost : cost;
    kept = keep(end, used, window!, now);
  }
  return answer(kept, allowed, wait, end, used, limit!, window!, now);
}

const keep = (end: number, used: number, window: number, now: number): State =>
  end - window > now ? [end, used, now] : [end, used];

function answer(
  state: State | undefined,
  allowed: boolean,
  wait: number,
  end: number,
  used: number,
  limit: number,
  window: number,
  now: number,
): Step {
  const booked = end - window > now;
  return {
    state,
    allowed,
    remaining: booked ? 0 : Math.max(0, limit - used),
    wait,
    reset: used > 0 ? end - now : 0,
  };
}

export const fixedWindowAlgorithm: Algorithm<FixedWindowPolicy> = {
  name: 'fixedWindow',
  tag: 'fw',
  compile: (policy) => {
    const { limit, window } = fixedWindow({ limit: policy.limit, window: policy.window });
    const micros = toMicros('fixedWindow: window', window);
    return {
      algorithm: fixedWindowAlgorithm as Algorithm,
      parameters: [limit, micros],
      limit,
      window: micros,
      longestWait: toMicros('longest wait', '3650d'),
    };
  },
  step,
  script: fixedWindowScript,
};
