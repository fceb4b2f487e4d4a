import { performance } from 'node:perf_hooks';
import type { Answer } from '../engine/call.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import type { Store } from '../stores/store.js';
import type { Departure, DepartureDeadline } from './deadlines.js';
import type { PendingCall } from './pending-call.js';

/** A call to a store that does not send calls together. */
export class SingleDeparture implements Departure {
  readonly began = performance.now();
  /** Whether such a store has sent it is not known. */
  sent = true;
  hasEnded = false;
  deadline: DepartureDeadline | undefined = undefined;

  constructor(
    readonly call: PendingCall,
    readonly localTime: number,
  ) {
    call.departure = this;
  }

  each(visit: (call: PendingCall) => void): void {
    visit(this.call);
  }

  /** @param deadline ms */
  send(store: Store, deadline: number): void {
    const { call } = this;
    const state = {
      get abandoned() {
        return call.over;
      },
      deadline,
    };
    let answer: MaybePromise<Answer>;
    try {
      answer = store.decide(call.call, state);
    } catch (error) {
      this.#end();
      call.failed(error);
      return;
    }
    const answered = (settled: Answer) => {
      this.#end();
      call.answered(settled);
    };
    if (isPromise(answer)) {
      answer.then(answered, (error) => {
        this.#end();
        call.failed(error);
      });
    } else {
      answered(answer);
    }
  }

  #end(): void {
    this.deadline?.deadlines.end(this.deadline);
  }
}
