import type { Call } from '../../../packages/core/src/call/call.js';
import type { PendingCall } from '../../../packages/core/src/call/pending-call.js';
import type { StoreUnavailableError } from '../../../packages/core/src/errors.js';
import type { Outcome } from '../instance.js';
import type { InvariantOf } from './invariant.js';

const errorOf = ({ answer, error }: Outcome): Partial<StoreUnavailableError> | undefined =>
  (error ?? answer?.source?.error) as Partial<StoreUnavailableError> | undefined;

/** Each call ends once. */
export const everyCallEndsOnce: InvariantOf = ({ broken }) => ({
  settled({ process }, call, _, again) {
    if (again) broken(`${process.name}: ${call.operation} ${call.parts[0]!.limit.name} ended twice`);
  },
});

/** docs/reliability.md: a call is counted at most once, and a call that was never sent is not counted. */
export const countedAtMostOnce: InvariantOf = ({ broken }) => {
  const kept = new Map<Call, unknown>();
  const neverSent = new Set<Call>();
  const nameOf = ({ operation, parts }: Call) => `${operation} ${parts[0]!.limit.name} ${parts[0]!.key}`;
  return {
    kept({ call, answer, process }) {
      if (kept.has(call)) broken(`${process.name}: ${nameOf(call)} was counted twice`);
      if (neverSent.has(call)) broken(`${process.name}: ${nameOf(call)} was counted, but "never sent"`);
      kept.set(call, answer);
    },
    settled({ process }, call, outcome) {
      const error = errorOf(outcome);
      if (error?.neverSent) {
        if (kept.has(call)) broken(`${process.name}: ${nameOf(call)} was counted, but "never sent"`);
        neverSent.add(call);
      }
    },
  };
};

/** docs/sqlite.md: a call is answered after its turn is kept, and by the decision that is kept. */
export const answeredAfterItIsKept: InvariantOf = ({ broken }) => {
  const kept = new Map<Call, unknown>();
  return {
    kept({ call, answer }) {
      kept.set(call, answer);
    },
    settled({ process }, call, { answer }) {
      // A call that was not sent itself is answered by another one.
      const { departure } = call as Partial<PendingCall>;
      if (answer === undefined || answer.source !== undefined || departure === undefined) return;
      if (kept.get(call) !== answer)
        broken(
          `${process.name}: ${call.operation} ${call.parts[0]!.limit.name} has an answer that was not kept`,
        );
    },
  };
};
