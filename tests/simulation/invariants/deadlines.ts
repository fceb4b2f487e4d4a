import type { Call } from '../../../packages/core/src/call/call.js';
import type { PendingCall } from '../../../packages/core/src/call/pending-call.js';
import type { StoreUnavailableError } from '../../../packages/core/src/errors.js';
import { BUDGET } from '../budget.js';
import type { InvariantOf } from './invariant.js';

/** µs: timers count whole ms, and each starts the next one. */
export const TIMERS = 3_000;
/** µs: the largest jump of the server's clock that a process does not notice. */
const JUMP = 1_000_000;

/** A process notices a larger jump by itself. */
export const mayBeUnnoticed = ([first, ...more]: readonly number[]): boolean =>
  first !== undefined && (more.length > 0 || Math.abs(first) < 1.5 * JUMP);

/** docs/reliability.md: a call waits at most for its deadline, beside its `timeout`; after its event loop was blocked once more. */
export const everyCallEndsInTime: InvariantOf = ({ world, calls, broken }) => ({
  ended({ kind, member, settings, key, startedAt, bound, endedAt }) {
    const { process } = member;
    const frozen = process.frozenSince(startedAt);
    const late = frozen > 0 ? bound + frozen + TIMERS : 0;
    const took = endedAt! - startedAt;
    // Calls of a process resolve in the order of their moments: a clock that jumped by less than a second looks like a slow reply.
    const jumped = kind === 'acquire' && mayBeUnnoticed(world.server.jumps) ? JUMP : 0;
    if (took <= bound + late + jumped + TIMERS) return;
    broken(
      `${process.name}: ${kind} ${settings.limit.name} ${key} took ${took} µs of ${bound}`,
      `${settings.limit.name} ${key}`,
    );
  },
  calm() {
    const pending = calls.all.find(({ member, endedAt }) => endedAt === undefined && !member.process.killed);
    if (pending === undefined) return;
    const { kind, member, settings, key } = pending;
    broken(
      `${member.process.name}: ${kind} ${settings.limit.name} ${key} has not ended`,
      `${settings.limit.name} ${key}`,
    );
  },
});

/** A call that is "late" has had its whole deadline, unless it waited for another call. */
export const everyCallHasItsTime: InvariantOf = ({ world, settings, broken }) => {
  const deadlines = new Map(
    settings.flatMap(({ limit, deadline }) =>
      Object.keys(limit.rules).map((name) => [name, deadline * 1000]),
    ),
  );
  // Each call of a hold begins with its record.
  deadlines.set('holds:', BUDGET.deadline * 1000);
  const begun = new Map<Call, number>();
  return {
    begun(call) {
      begun.set(call, world.scheduler.now);
    },
    settled({ process }, call, { answer, error }) {
      const { departure, ownDeadline } = call as PendingCall;
      const failure = (error ?? answer?.source?.error) as Partial<StoreUnavailableError> | undefined;
      const [{ limit, key }] = call.parts as [Call['parts'][0]];
      if (departure === undefined || ownDeadline !== undefined || !failure?.late || call.operation === 'peek')
        return;
      const took = world.scheduler.now - begun.get(call)!;
      if (took >= deadlines.get(limit.name)! - TIMERS) return;
      broken(
        `${process.name}: ${call.operation} ${limit.name} ${key} was late after ${took} µs`,
        `${limit.name} ${key}`,
      );
    },
  };
};
