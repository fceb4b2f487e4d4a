import type { HoldersView } from '../../decision.js';
import { type Algorithm, ANY, type Holders, NEVER, type Parameters, type State } from '../algorithm.js';

/*
 * A semaphore whose holders have leases. The twin is concurrency.lua.
 *
 * Parameters: [limit (permits), lease (µs), queue (the most waiting calls)].
 * State: [latest lease end (µs), last id given, number of holders,
 *         then (id, lease end, cost) of each holder, in the order in which the leases end,
 *         then (id, lease end, cost) of each waiting call, in the order of arrival].
 *
 * A new or renewed lease ends last, so it is added behind the others. At the moment of its end a lease has ended. An id is the µs of the
 * call, or the next free number: ids grow, also after a state has expired.
 */
const HEAD = 3;
const EACH = 3;

const endOf = (state: State, place: number): number => state[place + 1]!;
const costOf = (state: State, place: number): number => state[place + 2]!;
/** The place of the first waiting call. */
const queueOf = (state: State): number => HEAD + EACH * state[2]!;

function indexOfId(state: State, id: number): number {
  for (let place = HEAD; place < state.length; place += EACH) if (state[place] === id) return place;
  return -1;
}

const NOBODY: State = [0, -1, 0];

interface Living {
  /** The state without ended leases; the very same state if none has ended. */
  readonly list: State;
  /** Permits that are held. */
  readonly held: number;
  /** Number of waiting calls. */
  readonly waiting: number;
}

/** The holders and waiting calls at `now`. A waiting call whose cost is above a lowered limit is dropped: it would block the others. */
function living(limit: number, state: State = NOBODY, now: number): Living {
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
function sealed(lease: number, list: number[], now: number): State | undefined {
  list[0] = Math.min(list[1]! + 1, now + lease);
  // The last holder's lease ends last of all holders'.
  for (let place = Math.max(HEAD, queueOf(list) - EACH); place < list.length; place += EACH) {
    list[0] = Math.max(list[0], endOf(list, place));
  }
  return list[0] > now ? list : undefined;
}

/** The state with one more holder or waiter, behind the others. */
function admit(lease: number, list: State, now: number, cost: number, holds: boolean): State {
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

/**
 * µs until a call gets `cost` behind the waiting calls before the place `before`, if no call releases, renews or leaves. Leases end
 * one by one. The first waiting call then holds for a whole lease, or is dropped if its own lease ended first.
 */
function waitUntil(p: Parameters, { list, held }: Living, now: number, cost: number, before: number): number {
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
function estimateWait(
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

const holders: Holders = {
  last: (state) => state[1]!,

  /** The very same state when the queue is full. */
  join([limit, lease, queue], state, now, cost, most = queue!) {
    const { list, waiting } = living(limit!, state, now);
    return waiting < Math.min(queue!, most) ? admit(lease!, list, now, cost, false) : (state as State);
  },

  /** A lease that has ended is not renewed: another call may have been promised its permits. */
  renew([limit, lease], state, now, id) {
    const { list } = living(limit!, state, now);
    const place = indexOfId(list, id);
    if (place < 0) return list;
    const entry = [id, now + lease!, costOf(list, place)];
    const kept = [Math.max(list[0]!, now + lease!), ...list.slice(1, place), ...list.slice(place + EACH)];
    kept.splice(place < queueOf(list) ? queueOf(list) - EACH : place, 0, ...entry);
    return kept;
  },

  holderStatus(state, id) {
    const place = indexOfId(state, id);
    if (place < 0) return -1;
    return place < queueOf(state) ? 1 : 0;
  },

  remainingWait(p, state, now, id) {
    const alive = living(p[0]!, state, now);
    const place = indexOfId(alive.list, id);
    if (place < queueOf(alive.list)) return { wait: 1, estimate: 1 };
    const cost = costOf(alive.list, place);
    const wait = waitUntil(p, alive, now, cost, place);
    const estimate = estimateWait(p[0]!, alive, now, cost, place, wait);
    return { wait: Math.max(1, wait), estimate: Math.max(1, estimate) };
  },

  promote([limit, lease], state, now) {
    const alive = living(limit!, state, now);
    let free = limit! - alive.held;
    const first = queueOf(alive.list);
    const isFirstDue = first < alive.list.length && costOf(alive.list, first) <= free;
    if (alive.list === state && !isFirstDue) return { state, granted: [] };
    const list = [...alive.list];
    const granted: number[] = [];
    // Holders come right before waiting calls: the first waiting call becomes the last holder at its place.
    for (let place = queueOf(list); place < list.length && costOf(list, place) <= free; place += EACH) {
      free -= costOf(list, place);
      granted.push(list[place]!);
      list[place + 1] = now + lease!;
      list[2]! += 1;
    }
    return { state: sealed(lease!, list, now), granted };
  },
};

/** µs until a call gets `cost`, if no call releases, renews or leaves. */
function exactWait(p: Parameters, state: State | undefined, now: number, cost: number): number {
  if (cost === 0) return 0;
  if (cost > p[0]!) return NEVER;
  const alive = living(p[0]!, state, now);
  if (alive.waiting === 0 && alive.held + cost <= p[0]!) return 0;
  return waitUntil(p, alive, now, cost, alive.list.length);
}

function holdersView([limit]: Parameters, state: State | undefined, now: number): HoldersView {
  const { list, held } = living(limit!, state, now);
  const leases = Array.from({ length: (list.length - HEAD) / EACH }, (_, i) => {
    const place = HEAD + i * EACH;
    return { since: list[place]!, until: endOf(list, place), permits: costOf(list, place) };
  });
  return {
    kind: 'holders',
    limit: limit!,
    held,
    holders: leases.slice(0, list[2]!),
    waiting: leases.slice(list[2]!),
  };
}

export const concurrencyAlgorithm: Algorithm = {
  tag: 'cc',
  figures: {
    parameterNames: ['limit', 'lease', 'queue'],
    size: ([limit, lease]) => ({ limit: limit!, window: lease! }),
    view: holdersView,
  },

  /** No lease ends later than one lease from now: later ones come from a clock that went back, or from a longer lease. */
  normalize([, lease], state, now) {
    const latest = now + lease!;
    if (state[0]! <= latest) return state;
    return state.map((value, at) =>
      at === 0 || (at > HEAD && at % EACH === 1) ? Math.min(value, latest) : value,
    );
  },

  /** An estimate. */
  wait(p, state, now, cost) {
    const exact = exactWait(p, state, now, cost);
    if (state === undefined || exact <= 0) return exact;
    const alive = living(p[0]!, state, now);
    return estimateWait(p[0]!, alive, now, cost, alive.list.length, exact);
  },

  /** The new holder's id is `last`. The sum of costs saturates, so that it stays exact. */
  take([limit, lease], state, now, cost) {
    const { list, held } = living(limit!, state, now);
    return admit(lease!, list, now, Math.min(cost, Number.MAX_SAFE_INTEGER - held), true);
  },

  /** `at` is the id of a holder, all of whose permits come back, or of a waiting call, which leaves. A reward (`ANY`) changes nothing. */
  refund([, lease], state, now, _cost, at) {
    const place = at === ANY ? -1 : indexOfId(state, at);
    if (place < 0) return state;
    const list = [...state];
    list.splice(place, EACH);
    if (place < queueOf(state)) list[2]! -= 1;
    return sealed(lease!, list, now);
  },

  usage([limit], state, now) {
    if (state === undefined) return { remaining: limit!, reset: 0 };
    const { list, held, waiting } = living(limit!, state, now);
    const last = list[2]! > 0 ? endOf(list, queueOf(list) - EACH) : now;
    return { remaining: waiting > 0 ? 0 : Math.max(0, limit! - held), reset: last - now };
  },

  booking: { acquireWait: exactWait },
  // Holders renew a few times per lease that they know. A shorter one could end before that, when an override begins or ends.
  override: { keep: ([limit, , queue], [, lease]) => [limit!, lease!, queue!] },
  speed: { bytes: ([limit]) => 24 * (limit! + 1) },
  holders,
};
