import { NEVER } from '../algorithms/algorithm.js';
import type { Answer, Call } from './call.js';
import type { KeyState } from './key-state.js';

/**
 * Decides a call: all its parts, or none. `keyStates` are its parts, opened at the moment `now`. Afterwards `KeyState.keeps` says whether
 * to store its `entry()`. The twin is `decide-call.lua`.
 */
export function decide(call: Call, keyStates: readonly KeyState[], now: number): Answer {
  if (call.traced !== true) return decided(call, keyStates, now);
  const before = keyStates.map(({ state }) => state);
  const answer = decided(call, keyStates, now);
  const parts = answer.parts.map((part, i) => ({ ...part, trace: keyStates[i]!.trace(before[i]) }));
  return { ...answer, parts };
}

function decided({ operation, wait, overrides }: Call, keyStates: readonly KeyState[], now: number): Answer {
  switch (operation) {
    case 'consume':
    case 'peek':
      return admit(keyStates, now, 0, false, operation === 'consume');
    case 'acquire':
      return admit(keyStates, now, wait, true, true);
    case 'renew':
      return renewed(keyStates[0]!, now);
    default:
      keyStates.forEach((keyState, i) => {
        if (operation === 'charge') keyState.charge();
        else if (operation === 'refund') keyState.refund();
        else if (operation === 'reset') keyState.reset();
        else if (operation === 'block') keyState.block(wait);
        else keyState.override(wait, overrides?.[i]);
        keyState.ownMoment = now;
      });
      return answer(keyStates, now, true, false, 0);
  }
}

/** The first moment at which every part has the permits, if it is at most `longest` away. */
function admit(
  keyStates: readonly KeyState[],
  now: number,
  longest: number,
  shaped: boolean,
  taking: boolean,
): Answer {
  for (const keyState of keyStates) {
    const hopeless = shaped && keyState.saving > longest;
    keyState.ownMoment = hopeless ? NEVER : keyState.earliest(now, shaped);
  }
  const moment = commonMoment(keyStates, shaped);
  if (moment === NEVER) return answer(keyStates, now, false, false, NEVER);
  const wait = moment - now;
  const held = keyStates.some(({ holders }) => holders !== undefined);
  if (wait > 0 && held && shaped && longest > 0 && keyStates.length === 1) {
    const queued = keyStates[0]!.join();
    return answer(keyStates, now, false, queued, wait);
  }
  const overfull = shaped && keyStates.some((keyState) => keyState.overfull);
  const allowed = wait === 0 || (wait <= longest && !held && !overfull);
  if (allowed && taking) for (const keyState of keyStates) keyState.take(moment);
  return answer(keyStates, now, allowed, false, wait);
}

/** Each try passes a booking; the search must end. */
const MOST_TRIES = 10_000;

/** Each part may postpone the moment, until all agree: a part that allows one moment also allows a later one. */
function commonMoment(keyStates: readonly KeyState[], shaped: boolean): number {
  const own = keyStates.map(({ ownMoment }) => ownMoment);
  if (own.length === 1 || own.includes(NEVER)) return Math.min(...own);
  let moment = Math.max(...own);
  for (let agreed = 0, tries = 0; agreed < own.length; tries += 1) {
    if (tries === MOST_TRIES) return NEVER;
    const later = keyStates[tries % own.length]!.earliest(moment, shaped);
    if (later === NEVER) return NEVER;
    agreed = later > moment ? 1 : agreed + 1;
    moment = later;
  }
  return moment;
}

function renewed(keyState: KeyState, now: number): Answer {
  const status = keyState.renew();
  return answer([keyState], now, status === 1, status === 0, status === 0 ? keyState.ownMoment - now : 0);
}

function answer(
  keyStates: readonly KeyState[],
  now: number,
  allowed: boolean,
  queued: boolean,
  wait: number,
): Answer {
  return { allowed, queued, now, wait, parts: keyStates.map((keyState) => keyState.answer()) };
}
