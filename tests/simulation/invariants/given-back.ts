import { ANY } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Call } from '../../../packages/core/src/call/call.js';
import type { KeptEntry } from '../../../packages/entries/src/entry-table.js';
import type { UserCall } from '../calls.js';
import { isHeld } from '../calls.js';
import { limiterOf } from '../limits.js';
import type { Kept } from '../server.js';
import type { InvariantOf } from './invariant.js';

/** Permits are given back once, also if the caller gives them back twice. */
export const givenBackOnce: InvariantOf = ({ broken }) => {
  const taken = new Map<string, number>();
  return {
    kept({ call, answer, era, process }) {
      if (era > 0) return; // a store that lost a taking has it no more
      call.parts.forEach(({ limit, key, cost, at }, i) => {
        if (limit.rule.algorithm.holders !== undefined) return; // a holder is known by its id, and gives back once by itself
        const isRefund = call.operation === 'refund' && at !== ANY;
        if (!isRefund && !(answer.allowed || answer.queued)) return;
        if (!isRefund && call.operation !== 'consume' && call.operation !== 'acquire') return;
        const id = `${limit.name} ${key} ${isRefund ? at : answer.parts[i]!.at}`;
        const left = (taken.get(id) ?? 0) + (isRefund ? -cost : cost);
        taken.set(id, left);
        if (left < 0)
          broken(`${process.name}: ${-left} of ${id} came back twice`, `${limiterOf(limit.name)} ${key}`);
      });
    },
  };
};

/** A booking that is cancelled before another one leaves no trace. */
export const cancelledBookingsLeaveNoTrace: InvariantOf = ({ broken }) => {
  const logs = new Map<string, Kept[]>();
  return {
    kept(kept) {
      const { call, answer, era, process } = kept;
      const [part] = call.parts as [Call['parts'][0]];
      if (era > 0 || call.parts.length > 1 || call.operation === 'peek') return;
      const name = `${part.limit.name} ${part.key}`;
      const log = logs.get(name) ?? [];
      logs.set(name, log);
      const booking = log.at(-1);
      log.push(kept);
      if (
        call.operation !== 'refund' ||
        part.at <= answer.now ||
        part.limit.rule.algorithm.holders !== undefined
      )
        return;
      const isLast = booking?.call.operation === 'acquire' && booking.answer.parts[0]!.at === part.at;
      if (!isLast || booking.call.parts[0]!.cost !== part.cost) return;
      const [{ remaining, reset }] = answer.parts as [Kept['answer']['parts'][0]];
      const { remaining: wanted, reset: wantedReset } = replay(log.slice(0, -2), kept);
      if (remaining !== wanted || reset !== wantedReset)
        broken(
          `${process.name}: without the booking of ${part.at}, ${wanted} of ${name} would be left, not ${remaining}`,
          name,
        );
    },
  };
};

/** What would be left at the moment of `last` after the calls of a log alone. */
function replay(log: readonly Kept[], { process, call, answer }: Kept) {
  const { DecidedTurn } = process.product;
  const entries = new Map<string, KeptEntry>();
  const decide = (one: Call, now: number) => {
    const turn = new DecidedTurn({ now, entries });
    const decided = turn.decide(one);
    for (const changed of turn.changes.changed) {
      if (changed.entry === undefined) entries.delete(changed.key);
      else entries.set(changed.key, changed);
    }
    return decided;
  };
  for (const one of log) decide(one.call, one.answer.now);
  const parts = call.parts.map((part) => ({ ...part, cost: 1, at: 0 }));
  return decide({ operation: 'peek', wait: 0, parts }, answer.now).parts[0]!;
}

/** A call that has stopped waiting for held permits leaves the queue. */
export const endedWaitsHoldNothing: InvariantOf = ({ calls, broken }) => {
  const places = new Map<string, Set<number>>();
  const unsure = new Set<string>();
  const placesOf = (process: string, name: string, key: string): Set<number> => {
    const own = `${process} ${name} ${key}`;
    const known = places.get(own) ?? new Set();
    places.set(own, known);
    return known;
  };
  const isWaiting = (one: UserCall) => one.kind === 'acquire' && one.endedAt === undefined;
  return {
    settled({ process }, { operation, parts }, { answer }) {
      const [{ limit, key }] = parts as [Call['parts'][0]];
      if (operation === 'acquire' && answer?.queued && answer.source === undefined)
        placesOf(process.name, limit.name, key).add(answer.parts[0]!.at);
    },
    kept({ call, answer, process }) {
      const [{ limit, key, at }] = call.parts as [Call['parts'][0]];
      const isOver = call.operation === 'refund' || (call.operation === 'renew' && !answer.queued);
      if (isOver && limit.rule.algorithm.holders !== undefined)
        placesOf(process.name, limit.name, key).delete(at);
    },
    ended(call) {
      const { kind, member, settings, key, error, decision } = call;
      const { process } = member;
      if (kind !== 'acquire' || !isHeld(settings.limit)) return;
      const own = `${process.name} ${settings.limit.name} ${key}`;
      const isDenied = process.product.isRateLimitExceededError(error) && !error.decision.degraded;
      if ((error !== undefined && !isDenied) || decision?.degraded) unsure.add(own); // the store may have been out when it left
      if (!isDenied || unsure.has(own)) return;
      const waiting = calls.all.filter((one) => isWaiting(one) && one.member === member && one.key === key);
      const mine = waiting.filter((one) => one.settings === settings);
      const { size } = placesOf(process.name, settings.limit.name, key);
      if (size > mine.length)
        broken(
          `${own}: ${size} places in the queue, and ${mine.length} calls wait`,
          `${settings.limit.name} ${key}`,
        );
    },
  };
};
