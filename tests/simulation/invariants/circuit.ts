import type { PendingCall } from '../../../packages/core/src/call/pending-call.js';
import type { StoreUnavailableError } from '../../../packages/core/src/errors.js';
import type { Member } from '../world.js';
import type { InvariantOf } from './invariant.js';

/** Missed deadlines in a row after which a store is out. */
const FAILURES = 5;

/** docs/reliability.md, "How an outage proceeds": after five failures in a row the store is out, and a late answer is no success. */
export const fiveFailuresOpenTheCircuit: InvariantOf = ({ world, broken }) => {
  const failures = new Map<Member, number>();
  const out = new Set<Member>();
  const listened = new Set<Member>();
  const listen = (member: Member) => {
    listened.add(member);
    member.store.health.on('degraded', () => out.add(member));
    member.store.health.on('recovered', () => {
      out.delete(member);
      failures.set(member, 0);
    });
  };
  for (const member of world.members) listen(member);
  return {
    settled(member, call, { answer, error }) {
      const { departure, operation } = call as PendingCall;
      if (departure === undefined || operation === 'peek') return; // no call to the store, or a probe
      const failure = (error ?? answer?.source?.error) as StoreUnavailableError | undefined;
      if (failure === undefined) failures.set(member, 0);
      else if (failure.late) failures.set(member, (failures.get(member) ?? 0) + 1);
      if ((failures.get(member) ?? 0) < FAILURES) return;
      world.scheduler.at(world.scheduler.now + 1_000, () => {
        const missed = failures.get(member)!;
        if (missed >= FAILURES && !out.has(member) && !member.process.killed)
          broken(`${member.process.name}: ${missed} deadlines missed in a row, and the store is not out`);
      });
    },
  };
};

/** A store that is back decides again, by itself. */
export const theStoreDecidesAgain: InvariantOf = ({ calls, world, broken }) => ({
  calm() {
    for (const member of world.alive) {
      const last = calls.all.filter((one) => one.member === member && one.kind === 'consume').at(-1);
      if (last?.decision?.degraded)
        broken(`${member.process.name}: the failure policy still decides in calm`);
    }
  },
});
