import type { HoldersView } from '../../decision.js';
import { type Algorithm, ANY, type Holders, NEVER, type Parameters, type State } from '../algorithm.js';
import {
  admit,
  costOf,
  EACH,
  endOf,
  estimateWait,
  HEAD,
  indexOfId,
  living,
  NOBODY,
  queueOf,
  sealed,
  waitUntil,
} from './leases.js';

const holders: Holders = {
  last: (state) => state[1]!,

  /** The very same state when the queue is full. */
  join([limit, lease, queue], state, now, cost, most = queue!) {
    const { list, waiting } = state === undefined ? NOBODY : living(limit!, state, now);
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
  const alive = state === undefined ? NOBODY : living(p[0]!, state, now);
  if (alive.waiting === 0 && alive.held + cost <= p[0]!) return 0;
  return waitUntil(p, alive, now, cost, alive.list.length);
}

function holdersView([limit]: Parameters, state: State | undefined, now: number): HoldersView {
  const { list, held } = state === undefined ? NOBODY : living(limit!, state, now);
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
    const { list, held } = state === undefined ? NOBODY : living(limit!, state, now);
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
