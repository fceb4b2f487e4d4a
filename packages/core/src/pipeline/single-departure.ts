import { performance } from '#platform';
import type { Departure } from '../call/deadlines.js';
import type { PendingCall } from '../call/pending-call.js';
import type { Store } from '../stores/store.js';

/**
 * Sends a call to a store that does not send calls together.
 * @param deadline ms
 */
export function departAlone(call: PendingCall, store: Store, deadline: number): Departure {
  const departure: Departure = {
    began: performance.now(),
    localTime: store.clock.now(),
    sent: true, // possibly: only the store knows
    hasEnded: false,
    deadline: undefined,
    each: (visit) => visit(call),
  };
  call.departure = departure;
  void send(call, store, deadline, () => departure.deadline?.deadlines.end(departure.deadline));
  return departure;
}

async function send(call: PendingCall, store: Store, deadline: number, end: () => void): Promise<void> {
  const state = {
    get abandoned() {
      return call.over;
    },
    deadline,
  };
  let resume: () => void;
  try {
    const answer = await store.decide(call, state);
    resume = () => call.owner.answered(call, answer);
  } catch (error) {
    resume = () => call.failed(error);
  }
  end();
  resume();
}
