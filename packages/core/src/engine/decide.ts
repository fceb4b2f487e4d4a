import { NEVER } from '../algorithms/algorithm.js';
import type { Answer, Call } from '../call/call.js';
import { PLAIN_BOOKING } from '../call/limit.js';
import { hold, settle } from './hold.js';
import type { KeyState } from './key-state.js';
import { ALLOWED, DENIED, QUEUED } from './reply-codes.js';

/**
 * Decides a call: all its parts, or none. `keyStates` are its parts, opened at one moment. Afterwards `KeyState.keeps` says whether to store
 * its `entry()`. The twin is `decide-call.lua`.
 */
export function decide(call: Call, keyStates: readonly KeyState[]): Answer {
  if (call.traced !== true) return decided(call, keyStates);
  const before = keyStates.map(({ state }) => state);
  const answer = decided(call, keyStates);
  const parts = answer.parts.map((part, i) => ({ ...part, trace: keyStates[i]!.trace(before[i]) }));
  return { ...answer, parts };
}

function decided(call: Call, keyStates: readonly KeyState[]): Answer {
  const { operation, wait, overrides } = call;
  switch (operation) {
    case 'consume':
    case 'peek':
      return admit(keyStates, 0, operation === 'consume');
    case 'acquire':
      for (const keyState of keyStates) keyState.booking = keyState.part.booking ?? PLAIN_BOOKING;
      return admit(keyStates, wait, true);
    case 'renew': {
      const left = keyStates[0]!.renew();
      const code = left === 0 ? ALLOWED : left > 0 ? QUEUED : DENIED;
      return answer(keyStates, code, Math.max(0, left));
    }
    case 'hold':
    case 'settle': {
      const left = operation === 'hold' ? hold(call, keyStates) : settle(call, keyStates);
      return answer(keyStates, left === 0 ? ALLOWED : DENIED, left);
    }
    default:
      keyStates.forEach((keyState, i) => {
        if (operation === 'charge') keyState.charge();
        else if (operation === 'refund') keyState.refund();
        else if (operation === 'reset') keyState.reset();
        else if (operation === 'block') keyState.block(wait);
        else if (operation === 'extend-block') keyState.extendBlock(wait);
        else keyState.override(wait, overrides?.[i]);
      });
      return answer(keyStates, ALLOWED, 0);
  }
}

/** The first moment at which every part has the permits, if it is at most `longest` away. */
function admit(keyStates: readonly KeyState[], longest: number, taking: boolean): Answer {
  const wait = waitForAll(keyStates, longest);
  if (wait === NEVER) return answer(keyStates, DENIED, NEVER);
  const held = keyStates.some(({ holders }) => holders !== undefined);
  if (wait > 0 && held && longest > 0 && keyStates.length === 1 && keyStates[0]!.join()) {
    return answer(keyStates, QUEUED, wait);
  }
  const overfull = keyStates.some((keyState) => keyState.overfull);
  if (wait > 0 && (wait > longest || held || overfull)) {
    const asConsumed = held && keyStates.length === 1 && keyStates[0]!.booking !== undefined;
    if (asConsumed) {
      // A call that cannot wait for held permits retries: it needs an estimate.
      keyStates[0]!.booking = undefined;
    } else if (keyStates.some(({ booking }) => booking !== undefined && booking.margin + booking.gap > 0)) {
      // A call that can pass without margin and gap is not denied for them.
      for (const keyState of keyStates) keyState.booking = { ...keyState.booking!, margin: 0, gap: 0 };
      return admit(keyStates, longest, taking);
    }
    // Held permits cannot be booked. With several parts the caller now waits for them, and then tries the others: that denial counts.
    const waits = held && longest > 0 && keyStates.length > 1;
    const blocks = taking && !waits && escalate(keyStates, held ? 0 : longest);
    return answer(keyStates, DENIED, blocks || asConsumed ? waitForAll(keyStates, longest) : wait);
  }
  if (taking) for (const keyState of keyStates) keyState.take(keyState.now + wait);
  return answer(keyStates, ALLOWED, wait);
}

/** µs until every part has the permits; `NEVER`. */
function waitForAll(keyStates: readonly KeyState[], longest: number): number {
  for (const keyState of keyStates) {
    keyState.ownMoment = keyState.saving > longest ? NEVER : keyState.earliest(keyState.now);
  }
  const moment = commonMoment(keyStates);
  return moment === NEVER ? NEVER : moment - keyStates[0]!.now;
}

/**
 * Counts a denial at each part that alone denied it, unless one is blocked. @param longest the wait that would have been allowed
 * @returns whether that blocks the call
 */
function escalate(keyStates: readonly KeyState[], longest: number): boolean {
  if (!keyStates.some(({ escalates }) => escalates) || keyStates.some(({ isBlocked }) => isBlocked))
    return false;
  let blocks = false;
  for (const keyState of keyStates) {
    const wait = keyState.ownMoment - keyState.now;
    const denies = wait > longest || keyState.overfull;
    if (keyState.escalates && denies && keyState.strike()) blocks = true;
  }
  return blocks;
}

/** Each try passes a booking; the search must end. */
const MOST_TRIES = 10_000;

/** Each part may postpone the moment, until all agree: a part that allows one moment also allows a later one. */
function commonMoment(keyStates: readonly KeyState[]): number {
  const own = keyStates.map(({ ownMoment }) => ownMoment);
  if (own.length === 1 || own.includes(NEVER)) return Math.min(...own);
  let moment = Math.max(...own);
  for (let agreed = 0, tries = 0; agreed < own.length; tries += 1) {
    if (tries === MOST_TRIES) return NEVER;
    const later = keyStates[tries % own.length]!.earliest(moment);
    if (later === NEVER) return NEVER;
    agreed = later > moment ? 1 : agreed + 1;
    moment = later;
  }
  return moment;
}

function answer(keyStates: readonly KeyState[], code: number, wait: number): Answer {
  const parts = keyStates.map((keyState) => keyState.answer());
  return { allowed: code === ALLOWED, queued: code === QUEUED, now: keyStates[0]!.now, wait, parts };
}
