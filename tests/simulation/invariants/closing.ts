import type { InvariantOf } from './invariant.js';

/** Every permit comes back by itself: nothing that was cancelled, lost or abandoned leaves a trace. */
export const everythingComesBack: InvariantOf = ({ calls, broken }) => ({
  closed() {
    for (const { kind, decision, settings, key } of calls.all) {
      if (kind !== 'peek' || decision === undefined) continue;
      const whole = decision.policies.every(({ remaining, limit }) => remaining === limit);
      if (!whole)
        broken(
          `${settings.limit.name} ${key}: ${decision.remaining} of ${decision.limit} are back in the end`,
          `${settings.limit.name} ${key}`,
        );
    }
  },
});

/** A wait that has ended listens no more. */
export const nobodyListensInVain: InvariantOf = ({ world, broken }) => ({
  calm() {
    for (const { process, listeners } of world.alive)
      if (listeners() > 0) broken(`${process.name}: ${listeners()} subscriptions are left`);
  },
});

/** `close()` leaves no timer. */
export const closingEndsAllTimers: InvariantOf = ({ world, broken }) => ({
  closed() {
    for (const { process } of world.alive)
      if (process.timers.size > 0) broken(`${process.name}: ${process.timers.size} timers are left`);
  },
});
