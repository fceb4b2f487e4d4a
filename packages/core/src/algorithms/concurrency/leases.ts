import type { Parameters, State } from '../algorithm.js';

/*
 * The state of a semaphore whose holders have leases. semaphore.ts changes it; concurrency.lua is the twin of both.
 *
 * Parameters: [limit (permits), lease (µs), queue (the most waiting calls)].
 * State: [latest lease end (µs), last id given, number of holders,
 *         then (id, lease end, cost) of each holder, in the order in which the leases end,
 *         then (id, lease end, cost) of each waiting call, in the order of arrival].
 *
 * A new or renewed lease ends last, so it is added behind the others. At the moment of its end a lease has ended. An id is the µs of the
 * call, or the next free number: ids grow, also after a state has expired.
 */
export const HEAD = 3;
export const EACH = 3;

export const endOf = (state: State, place: number): number => state[place + 1]!;
export const costOf = (state: State, place: number): number => state[place + 2]!;
/** The place of the first waiting call. */
export const queueOf = (state: State): number => HEAD + EACH * state[2]!;

export function indexOfId(state: State, id: number): number {
  for (let place = HEAD; place < state.length; place += EACH) if (state[place] === id) return place;
  return -1;
}

export interface Living {
  /** The state without ended leases; the very same state if none has ended. */
  readonly list: State;
  /** Permits that are held. */
  readonly held: number;
  /** Number of waiting calls. */
  readonly waiting: number;
}

/** The holders and waiting calls at `now`. A waiting call whose cost is above a lowered limit is dropped: it would block the others. */
export function living(limit: number, state: State, now: number): Living {
  const queue = queueOf(state);
  /** Made when one has ended: a copy takes longer than the rest. */
  let list: number[] | undefined;
  let held = 0;
  let holders = 0;
  for (let place = HEAD; place < state.length; place += EACH) {
    const cost = costOf(state, place);
    if (endOf(state, place) <= now || (place >= queue && cost > limit)) {
      list ??= state.slice(0, place);
      continue;
    }
    list?.push(state[place]!, endOf(state, place), cost);
    if (place >= queue) continue;
    held += cost;
    holders += 1;
  }
  // Only tools read values that may be damaged.
  if (queue > state.length || held > Number.MAX_SAFE_INTEGER)
    throw new RangeError('the key holds a foreign value: its number of holders or of held permits is wrong');
  if (list !== undefined) list[2] = holders;
  const kept = list ?? state;
  return { list: kept, held, waiting: (kept.length - HEAD) / EACH - holders };
}

/** The list as a state. An empty one keeps the last id until the clock has passed it: otherwise the same µs gives that id again. */
export function sealed(lease: number, list: number[], now: number): State | undefined {
  list[0] = Math.min(list[1]! + 1, now + lease);
  // The last holder's lease ends last of all holders'.
  for (let place = Math.max(HEAD, queueOf(list) - EACH); place < list.length; place += EACH) {
    list[0] = Math.max(list[0], endOf(list, place));
  }
  return list[0] > now ? list : undefined;
}

/** The state with one more holder or waiter, behind the others. */
export function admit(lease: number, list: State, now: number, cost: number, holds: boolean): State {
  const id = Math.max(now, list[1]! + 1);
  const next = list.slice();
  next[0] = Math.max(list[0]!, now + lease);
  next[1] = id;
  if (holds) next[2] = list[2]! + 1;
  const place = holds ? queueOf(list) : list.length;
  if (place === list.length) next.push(id, now + lease, cost);
  else next.splice(place, 0, id, now + lease, cost);
  return next;
}

export const NOBODY: Living = { list: [0, -1, 0], held: 0, waiting: 0 };

/**
 * µs until a call gets `cost` behind the waiting calls before the place `before`, if no call releases, renews or leaves. Leases end
 * one by one. The first waiting call then holds for a whole lease, or is dropped if its own lease ended first.
 */
export function waitUntil(
  p: Parameters,
  { list, held }: Living,
  now: number,
  cost: number,
  before: number,
): number {
  const [limit, lease] = p as [number, number];
  const ends: number[] = [];
  const costs: number[] = [];
  let next = HEAD;
  const hold = (end: number) => {
    ends.push(end);
    costs.push(costOf(list, next));
    next += EACH;
  };
  while (next < queueOf(list)) hold(endOf(list, next));

  let time = now;
  let free = limit - held;
  let ended = 0;
  for (;;) {
    while (next < before) {
      if (endOf(list, next) <= time) {
        next += EACH;
        continue;
      }
      if (costOf(list, next) > free) break;
      free -= costOf(list, next);
      hold(time + lease);
    }
    if (next === before && cost <= free) return time - now;
    time = Math.min(ends[ended] ?? Infinity, next < before ? endOf(list, next) : Infinity);
    for (; ended < ends.length && ends[ended]! <= time; ended += 1) free += costs[ended]!;
  }
}

/**
 * About when a call gets `cost` behind the waiting calls before the place `before`: µs. Holders release on average when they have held
 * their permits for as long again as now, so the permits come back at that pace. At most `exact`, the result of `waitUntil`, which is
 * also the answer while no time has passed.
 */
export function estimateWait(
  limit: number,
  { list, held }: Living,
  now: number,
  cost: number,
  before: number,
  exact: number,
): number {
  const queue = queueOf(list);
  let age = 0;
  let missing = cost + held - limit;
  for (let place = HEAD; place < before; place += EACH) {
    if (place < queue) age += Math.max(0, now - list[place]!);
    else missing += costOf(list, place);
  }
  const estimate = Math.ceil((age * missing) / (list[2]! * held));
  return estimate > 0 && estimate < exact ? estimate : exact;
}
