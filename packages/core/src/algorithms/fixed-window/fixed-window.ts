import type { WindowView } from '../../decision.js';
import { exactLength, toMicros } from '../../duration.js';
import {
  type Algorithm,
  ANY,
  type Cell,
  down,
  expandWindowRun,
  JITTER,
  NEVER,
  type Parameters,
  type State,
} from '../algorithm.js';
import { type PolicyKind, shareOfLimit } from '../policy-kind.js';
import { DAYS, edgesAround } from './calendar.js';
import {
  calendarText,
  DAY,
  type FixedWindowOptions,
  type FixedWindowPolicy,
  fixedWindow,
  readPolicy,
} from './policy.js';

/** The third parameter, which windows that begin with their first call do not have. */
const CLOCK = 1;
const CALENDAR = 2;
/** Index of a calendar's first edge in the parameters. */
const EDGES = 3;

/** The end of the window that contains `moment`, or begins then with its first call. */
function endOf(parameters: Parameters, moment: number): number {
  const window = parameters[1]!;
  if (parameters[2] === undefined) return moment + window;
  let edge = parameters[EDGES] ?? 0;
  for (let i = EDGES + 1; i < parameters.length && moment >= edge; i += 1) {
    if (moment < parameters[i]!) return parameters[i]!;
    edge = parameters[i]!;
  }
  // No calendar, or one of other times: steps of a window from the nearest edge.
  return edge + (down(moment - edge, window) + 1) * window;
}

/**
 * The latest end that a window can have at `now`. A later one means that the clock went back, or that the policy had other windows. A
 * clock that trembles does not end a window of `align: 'clock'`: each step over its edge would begin it again.
 */
const latestEnd = (parameters: Parameters, now: number): number =>
  endOf(parameters, parameters[2] === undefined ? now : now + JITTER);

const usedAt = (state: State | undefined, now: number): number =>
  state === undefined || state[0]! <= now ? 0 : state[1]!;

/** The start of the window that ends at `end`. */
function startOf(parameters: Parameters, end: number): number {
  const at = parameters.indexOf(end, EDGES + 1);
  return at > EDGES ? parameters[at - 1]! : end - parameters[1]!;
}

function windowView(parameters: Parameters, state: State | undefined, now: number): WindowView {
  const end = state !== undefined && state[0]! > now ? state[0]! : undefined;
  return {
    kind: 'window',
    limit: parameters[0]!,
    used: usedAt(state, now),
    start: end === undefined ? undefined : startOf(parameters, end),
    end,
  };
}

export { type FixedWindowOptions, type FixedWindowPolicy, fixedWindow };

function step(parameters: Parameters, cell: Cell, now: number, cost: number): boolean {
  const { numbers, at } = cell;
  const limit = parameters[0]!;
  let end = numbers[at]!;
  let used = numbers[at + 1]!;
  if (cost === 0 || cost > limit || end > latestEnd(parameters, now)) return false;
  if (end <= now) {
    end = endOf(parameters, now);
    used = 0;
  }
  const allowed = cost <= limit - used;
  if (allowed) {
    used += cost;
    numbers[at] = end;
    numbers[at + 1] = used;
  }
  cell.wait = allowed ? 0 : end - now;
  cell.remaining = Math.max(0, limit - used);
  cell.reset = end - now;
  return true;
}

/**
 * State: [end of the window (µs), permits used in it].
 * Parameters: [limit, window (µs)], then `CLOCK`, or `CALENDAR` and the moments at which the windows around the present begin. The
 * store's clock picks the window out of these: a caller whose clock is wrong supplies a calendar, never the time. An override has no
 * moments of its own: its key keeps the windows of the policy.
 */
export const fixedWindowAlgorithm: Algorithm = {
  tag: 'fw',

  figures: {
    parameterNames: ['limit', 'window', 'alignment'],
    size: ([limit, window]) => ({ limit: limit!, window: window! }),
    view: windowView,
  },

  normalize: (parameters, state, now) =>
    state[0]! > latestEnd(parameters, now) ? [endOf(parameters, now), state[1]!] : state,

  wait([limit], state, now, cost) {
    if (cost === 0) return 0;
    if (cost > limit!) return NEVER;
    return cost <= limit! - usedAt(state, now) ? 0 : state![0]! - now;
  },

  take(parameters, state, now, cost): State {
    if (state === undefined || state[0]! <= now) return [endOf(parameters, now), cost];
    return [state[0]!, Math.min(state[1]! + cost, Number.MAX_SAFE_INTEGER)];
  },

  refund(parameters, state, _now, cost, at) {
    const [end, used] = state;
    if (cost === 0) return state;
    if (at !== ANY && (at >= end! || at < startOf(parameters, end!))) return state;
    return cost < used! ? [end!, used! - cost] : undefined;
  },

  usage: ([limit], state, now) => ({
    remaining: Math.max(0, limit! - usedAt(state, now)),
    reset: Math.max(0, (state?.[0] ?? now) - now),
  }),

  // The present window may have begun after `at`, and no other before it.
  hasEnded: (parameters, now, at) => endOf(parameters, at) <= now,

  booking: { anchored: (parameters) => parameters[2] === undefined },

  override: {
    complete: (parameters, policy) =>
      parameters[2] === CALENDAR && parameters.length === EDGES
        ? [...parameters, ...policy.slice(EDGES)]
        : parameters,
  },

  prefetch: {
    // Until its window ends a permit counts the same whenever it is used.
    narrow: (parameters, micros) => ({ parameters, longest: micros }),

    usableFor(parameters, now, reset) {
      if (parameters[2] !== undefined) return Math.min(reset, endOf(parameters, now) - now);
      // With a booking for a later window, the end of this one is not known.
      return reset <= parameters[1]! ? reset : 0;
    },
  },

  speed: { step, expandRun: expandWindowRun },
};

export const fixedWindowKind: PolicyKind<FixedWindowPolicy, FixedWindowOptions> = {
  name: 'fixedWindow',
  page: 'fixed-window',
  hasWindows: true,
  prefetches: true,
  options: {
    limit: { type: 'count', sample: '10' },
    window: { type: 'duration', calendar: true, sample: '10s' },
    align: { type: 'word', words: ['first-hit', 'clock'], optional: true, sample: '' },
    timeZone: { type: 'text', what: 'a time zone such as Europe/Berlin', optional: true },
    anchor: {
      type: 'text',
      what: 'a day such as monday, 15 or 04-01',
      numbers: true,
      optional: true,
      description: 'The day on which a week, a month or several months begin: monday, 1 to 31, or 04-01.',
    },
  },
  create: fixedWindow,
  text: (policy) => `${policy.limit} per ${exactLength(policy.window)}${calendarText(policy)}`,
  shareOf: shareOfLimit,
  compile({ algorithm: _, ...options }) {
    const { policy, calendar: own } = readPolicy(options);
    const { limit, align, timeZone = 'UTC' } = policy;
    const calendar = own?.calendar ?? (policy.timeZone === undefined ? undefined : DAYS);
    const window =
      calendar === undefined ? toMicros('fixedWindow: window', policy.window) : calendar.longest * DAY;
    const rule = { algorithm: fixedWindowAlgorithm, limit, window };
    if (calendar === undefined)
      return { ...rule, parameters: align === undefined ? [limit, window] : [limit, window, CLOCK] };
    const head = [limit, window, CALENDAR];
    const parametersAt = edgesAround(calendar, timeZone, head);
    return {
      ...rule,
      parametersAt,
      // The calendar around the present.
      get parameters() {
        return parametersAt(Date.now() * 1000);
      },
      calendar: { id: [policy.window, timeZone, policy.anchor].join(' '), head },
    };
  },
};
