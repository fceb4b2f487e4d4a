import type { Clock } from '@sluice/core';
import type { Departure, DepartureDeadline, PendingCall } from '@sluice/core/internal';

/** Calls of one tick of the event loop: their deadline begins with the tick. */
export class Gathered implements Departure {
  readonly calls: PendingCall[] = [];
  readonly began = performance.now();
  readonly localTime: number;
  sent = false;
  hasEnded = false;
  deadline: DepartureDeadline | undefined = undefined;

  constructor(clock: Clock) {
    this.localTime = clock.now();
  }

  each(visit: (call: PendingCall) => void): void {
    for (const call of this.calls) visit(call);
  }

  end(): void {
    for (let one = this.deadline; one !== undefined; one = one.next) one.deadlines.end(one);
  }
}
