import { NEVER } from '../algorithms/algorithm.js';
import {
  BEGAN,
  holdAlgorithm,
  KEEP,
  KIND,
  LAPSES,
  liveAmounts,
  OWNER,
  RECORD_HEAD,
  REFUND,
  SETTLED,
  sumOf,
} from '../algorithms/hold/hold.js';
import type { Call } from '../call/call.js';
import type { KeyState } from './key-state.js';

/** One limit of a hold: the key that counts spent amounts, and the key that counts held ones. A limit of what runs at once has only the latter. */
interface HeldLimit {
  readonly spent: KeyState | undefined;
  readonly held: KeyState;
  /** Live amounts of other holds. */
  readonly amounts: number[];
  /** The amount that this hold has now. */
  before: number;
  /** The amount in the call: of `hold` the whole amount, of `settle` what was used. */
  readonly given: number;
}

/**
 * `hold`: after it the hold has at least the amounts of the call and lapses `call.wait` later, or nothing has changed. To repeat it changes
 * nothing more. The first part is the record: its `at` is the owner, its cost the kind of a new hold, or 0 if the hold must exist. Each
 * limit follows: the part that counts spent amounts, and the part that counts held ones; or only the latter. A held part with `at` 1 reports and
 * never denies. The twin is hold.lua.
 * @returns µs until it would fit, 0 if it was done, `NEVER` if the hold is not the caller's
 */
export function hold(call: Call, keyStates: readonly KeyState[]): number {
  const record = keyStates[0]!;
  const { now, part, state } = record;
  const limits = limitsOf(keyStates);
  const kind = state?.[KIND] ?? part.cost;
  if (kind === 0 || kind === SETTLED || !isOwn(record, limits)) return refused(record);
  const known = state ?? [];
  takeOut(limits, known, kind, now);

  let wait = 0;
  for (const limit of limits) {
    const own = waitFor(limit, kind, now);
    (limit.spent ?? limit.held).ownMoment = own === NEVER ? NEVER : now + own;
    wait = wait === NEVER || own === NEVER ? NEVER : Math.max(wait, own);
  }
  if (wait !== 0) return wait;

  const until = lapseAt(now, call.wait);
  // A hold of this kind is counted when it is settled, and a window that has ended counts nothing: the last one that it took from must be open.
  const began = kind === REFUND && limits.some(({ given, before }) => given > before) ? now : known[BEGAN];
  const amounts: number[] = [];
  for (const limit of limits) {
    const amount = Math.max(limit.before, limit.given);
    amounts.push(amount);
    if (isTaken(limit, kind)) withCost(limit.spent!, amount - limit.before).take(now);
    else if (amount > 0) putIn(limit, until, amount);
  }
  record.put([until + call.wait, until, part.at, began ?? now, kind, ...amounts]);
  return 0;
}

/**
 * `settle`: counts what was used in place of what was held, where the hold began, and remembers for `call.wait` that this is done. To repeat
 * it changes nothing. @returns as `hold`
 */
export function settle(call: Call, keyStates: readonly KeyState[]): number {
  const record = keyStates[0]!;
  const { now, part, state } = record;
  const limits = limitsOf(keyStates);
  if (state === undefined || !isOwn(record, limits)) return refused(record);
  if (state[KIND] === SETTLED) return 0;
  const kind = state[KIND]!;
  takeOut(limits, state, kind, now);
  for (const limit of limits) {
    const taken = isTaken(limit, kind) ? limit.before : 0;
    if (!isTaken(limit, kind)) writeAmounts(limit);
    if (limit.spent !== undefined) correct(limit.spent, limit.given - taken, Math.min(state[BEGAN]!, now));
  }
  record.put([now + call.wait, now, part.at, state[BEGAN]!, SETTLED, ...limits.map(({ given }) => given)]);
  return 0;
}

function withCost(keyState: KeyState, cost: number, at = keyState.part.at): KeyState {
  keyState.part = { ...keyState.part, cost, at };
  return keyState;
}

/** Counts `more` than was taken from the moment `at` on, or less if it is negative. A window that has ended since then stays as it is. */
function correct(spent: KeyState, more: number, at: number): void {
  if (spent.hasEnded(at)) return;
  if (more > 0) withCost(spent, more).charge();
  else withCost(spent, -more, at).refund('refundSince');
}

function refused(record: KeyState): number {
  record.ownMoment = NEVER;
  return NEVER;
}

const isOwn = ({ state, part }: KeyState, limits: readonly HeldLimit[]): boolean =>
  state === undefined || (state[OWNER] === part.at && state.length === RECORD_HEAD + limits.length);

/** Has the amount been taken from what may be spent? */
const isTaken = ({ spent }: HeldLimit, kind: number): boolean => spent !== undefined && kind === KEEP;

function limitsOf(keyStates: readonly KeyState[]): HeldLimit[] {
  const limits: HeldLimit[] = [];
  let spent: KeyState | undefined;
  for (let i = 1; i < keyStates.length; i += 1) {
    const keyState = keyStates[i]!;
    if (keyState.part.limit.rule.algorithm === holdAlgorithm) {
      const amounts = liveAmounts(keyState.state, keyState.now);
      limits.push({ spent, held: keyState, amounts, before: 0, given: keyState.part.cost });
      spent = undefined;
    } else {
      spent = keyState;
    }
  }
  return limits;
}

/** Reads what the hold has, and takes it out of the amounts that are held. */
function takeOut(limits: readonly HeldLimit[], record: readonly number[], kind: number, now: number): void {
  limits.forEach((limit, i) => {
    limit.before = record[RECORD_HEAD + i] ?? 0;
    if (isTaken(limit, kind)) return;
    const { amounts } = limit;
    const lapses = record[LAPSES] ?? 0;
    if (lapses <= now) limit.before = 0;
    const place = indexOfMoment(amounts, lapses);
    if (limit.before === 0 || amounts[place] !== lapses) return;
    const left = amounts[place + 1]! - limit.before;
    if (left > 0) amounts[place + 1] = left;
    else amounts.splice(place, 2);
  });
}

function putIn(limit: HeldLimit, until: number, amount: number): void {
  const { amounts } = limit;
  const place = indexOfMoment(amounts, until);
  if (amounts[place] === until)
    amounts[place + 1] = Math.min(amounts[place + 1]! + amount, Number.MAX_SAFE_INTEGER);
  else amounts.splice(place, 0, until, amount);
  writeAmounts(limit);
}

function writeAmounts({ held, amounts }: HeldLimit): void {
  held.put(amounts.length === 0 ? undefined : [amounts[amounts.length - 2]!, ...amounts]);
}

/** The first place of a moment that is not before `moment`. */
function indexOfMoment(amounts: readonly number[], moment: number): number {
  let place = 0;
  while (place < amounts.length && amounts[place]! < moment) place += 2;
  return place;
}

/** µs until what the hold needs more fits beside all that others hold: amounts lapse one after the other. */
function waitFor(limit: HeldLimit, kind: number, now: number): number {
  const { held, amounts, before, given } = limit;
  if (given <= before || held.part.at === 1) return 0;
  const need = isTaken(limit, kind) ? given - before : given;
  let others = sumOf(amounts);
  let from = now;
  let best = NEVER;
  for (let place = 0; ; place += 2) {
    const moment = momentFor(limit, Math.min(need + others, Number.MAX_SAFE_INTEGER), from);
    if (moment !== NEVER && (best === NEVER || moment < best)) best = moment;
    if (best === from || place >= amounts.length) break;
    from = amounts[place]!;
    others = Math.max(0, others - amounts[place + 1]!);
  }
  return best === NEVER ? NEVER : best - now;
}

/** The first moment from `from` on at which the amount fits; `NEVER`. */
function momentFor({ spent, held }: HeldLimit, amount: number, from: number): number {
  if (spent !== undefined) {
    const moment = withCost(spent, amount).earliest(spent.now);
    return moment === NEVER ? NEVER : Math.max(from, moment);
  }
  return amount <= held.part.limit.rule.limit ? from : NEVER;
}

/** Amounts of about the same moment lapse together, so that their number has a bound: a hold lasts at most an eighth longer. */
function lapseAt(now: number, micros: number): number {
  let step = 1;
  while (16 * step <= micros) step *= 2;
  return Math.ceil((now + micros) / step) * step;
}
