import type { UserCall } from '../calls.js';
import { limiterOf } from '../limits.js';
import type { Kept } from '../server.js';
import type { InvariantOf } from './invariant.js';

/** These may let a key pass sooner. */
const LOOSENS: readonly string[] = ['refund', 'block', 'override', 'reset'];

/** Does an operation touch all policies for which the denied call waits? */
const loosens = ({ call }: Kept, { call: denied, answer }: Kept): boolean =>
  LOOSENS.includes(call.operation) &&
  denied.parts.every(
    ({ limit }, i) =>
      answer.parts[i]!.wait < answer.wait - 1_000 ||
      call.parts.some((part) => part.limit.name === limit.name),
  );

/**
 * docs/reliability.md, "Denials from memory": a key that was just denied is denied for at most `denyCache`, never beyond its wait, and no more once this
 * process has loosened it.
 */
export const cachedDenialsEndInTime: InvariantOf = ({ world, broken }) => {
  /** What the server kept for each process, limiter and key. */
  const logs = new Map<string, Kept[]>();
  const seenBy = new Map<Kept, number>();
  const waiting = new Map<Kept['call'], Kept>();
  const logOf = (process: string, name: string, key: string): Kept[] => {
    const own = `${process} ${name} ${key}`;
    const log = logs.get(own) ?? [];
    logs.set(own, log);
    return log;
  };
  const check = (call: UserCall) => {
    const { member, settings, key, decision, startedAt: now } = call;
    if (decision?.source !== 'deny-cache') return;
    const log = logOf(member.process.name, settings.limit.name, key);
    const cause = log.some((one, i) => {
      const { call: made, answer, at } = one;
      if (made.operation !== 'consume' || answer.allowed) return false;
      const ends = at + answer.wait;
      // Waits are whole ms, rounded up, and count from the begin of a call that then waits for a block of prefetched permits.
      const lasts = at + settings.denyCache * 1000 >= now && ends >= now + (decision.retryAfter - 1) * 1000;
      const isKnown = (later: Kept) => seenBy.get(later) !== undefined && seenBy.get(later)! < now;
      return lasts && !log.slice(i + 1).some((later) => isKnown(later) && loosens(later, one));
    });
    if (!cause)
      broken(
        `${member.process.name}: ${settings.limit.name} ${key} was denied from memory without a cause`,
        `${settings.limit.name} ${key}`,
      );
  };
  return {
    kept(kept) {
      const [{ limit, key }] = kept.call.parts as [Kept['call']['parts'][0]];
      logOf(kept.process.name, limiterOf(limit.name), key).push(kept);
      waiting.set(kept.call, kept);
    },
    settled(_, call, { answer }) {
      const kept = waiting.get(call);
      if (kept !== undefined && answer === kept.answer) seenBy.set(kept, world.scheduler.now);
    },
    ended: check,
  };
};
