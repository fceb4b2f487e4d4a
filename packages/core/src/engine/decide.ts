import { NEVER } from '../algorithms/algorithm.js';
import type { Answer, Call } from './call.js';
import type { Lane } from './key-state.js';

/**
 * Decides a call: all its parts, or none. `lanes` are its parts, opened at the moment `now`; afterwards each says whether it
 * `changed` and what to keep. Its twin is `decide-call.lua`.
 */
export function decide(call: Call, lanes: readonly Lane[], now: number): Answer {
  if (call.traced !== true) return decided(call, lanes, now);
  const before = lanes.map((lane) => lane.trace());
  const answer = decided(call, lanes, now);
  const parts = answer.parts.map((part, i) => ({ ...part, trace: lanes[i]!.trace(before[i]) }));
  return { ...answer, parts };
}

function decided({ operation, wait, overrides }: Call, lanes: readonly Lane[], now: number): Answer {
  switch (operation) {
    case 'consume':
    case 'peek':
      return admit(lanes, now, 0, false, operation === 'consume');
    case 'acquire':
      return admit(lanes, now, wait, true, true);
    case 'renew':
      return renewed(lanes[0]!, now);
    default:
      lanes.forEach((lane, i) => {
        if (operation === 'charge') lane.charge();
        else if (operation === 'refund') lane.refund();
        else if (operation === 'reset') lane.reset();
        else if (operation === 'block') lane.block(wait);
        else lane.override(wait, overrides?.[i]);
        lane.own = now;
      });
      return answer(lanes, now, true, false, 0);
  }
}

/** The first moment at which every part has the permits, if it is at most `longest` away. */
function admit(
  lanes: readonly Lane[],
  now: number,
  longest: number,
  shaped: boolean,
  taking: boolean,
): Answer {
  for (const lane of lanes) {
    const hopeless = shaped && lane.saving > longest;
    lane.own = hopeless ? NEVER : lane.earliest(now, shaped);
  }
  const moment = together(lanes, shaped);
  if (moment === NEVER) return answer(lanes, now, false, false, NEVER);
  const wait = moment - now;
  const held = lanes.some(({ holders }) => holders !== undefined);
  if (wait > 0 && held && shaped && longest > 0 && lanes.length === 1) {
    const queued = lanes[0]!.join();
    return answer(lanes, now, false, queued, wait);
  }
  const overfull = shaped && lanes.some((lane) => lane.overfull);
  const allowed = wait === 0 || (wait <= longest && !held && !overfull);
  if (allowed && taking) for (const lane of lanes) lane.take(moment);
  return answer(lanes, now, allowed, false, wait);
}

/** Each try passes somebody who is booked; nothing may go on for ever. */
const MOST_TRIES = 10_000;

/** Each part may put it off, until all agree: a part that could go sooner can also go later. */
function together(lanes: readonly Lane[], shaped: boolean): number {
  if (lanes.length === 1 || lanes.some(({ own }) => own === NEVER))
    return Math.min(...lanes.map(({ own }) => own));
  let moment = Math.max(...lanes.map(({ own }) => own));
  for (let agreed = 0, i = 0, tries = 1; agreed < lanes.length; i = (i + 1) % lanes.length, tries += 1) {
    if (tries > MOST_TRIES) return NEVER;
    const lane = lanes[i]!;
    const later = lane.earliest(moment, shaped);
    if (later === NEVER) return NEVER;
    agreed = later > moment ? 1 : agreed + 1;
    moment = later;
  }
  return moment;
}

function renewed(lane: Lane, now: number): Answer {
  const standing = lane.renew();
  return answer([lane], now, standing === 1, standing === 0, standing === 0 ? lane.own - now : 0);
}

function answer(
  lanes: readonly Lane[],
  now: number,
  allowed: boolean,
  queued: boolean,
  wait: number,
): Answer {
  return { allowed, queued, now, wait, parts: lanes.map((lane) => lane.answer()) };
}
