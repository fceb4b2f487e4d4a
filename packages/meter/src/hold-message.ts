import type { HoldMessage } from '@sluice/core';
import { HOLD } from '@sluice/core/internal';
import type { WholeAmounts } from './amounts.js';
import type { HeldAxis } from './parts.js';

/** What subscribers know of one hold. The same object is published with each change. */
class Message implements HoldMessage {
  state: HoldMessage['state'] = 'held';
  amounts: WholeAmounts = {};
  axis: string | undefined = undefined;
  key: string | undefined = undefined;
  lapsesAt = 0;

  constructor(
    readonly meter: string,
    readonly id: string,
  ) {}
}

/** Publishes what becomes of one hold, if there is a subscriber. */
export class HoldMessages {
  #message: Message | undefined;

  constructor(
    readonly meter: string,
    readonly id: string,
    readonly axes: readonly HeldAxis[],
  ) {}

  /** @param ttl how long it lasts from now on, µs */
  held(amounts: WholeAmounts, ttl: number): void {
    this.#publish('held', amounts, { lapsesAt: performance.now() + ttl / 1000 });
  }

  /** @param amounts as they were used */
  settled(amounts: WholeAmounts): void {
    const spent = this.axes.filter((one) => one.spent !== undefined && amounts[one.axis] !== undefined);
    this.#publish('settled', Object.fromEntries(spent.map(({ axis }) => [axis, amounts[axis]!])));
  }

  canceled(): void {
    this.#publish('canceled', {});
  }

  lapsed(): void {
    this.#publish('lapsed', {});
  }

  /** @param amounts all that it would have held */
  denied(amounts: WholeAmounts, axis: string, scope: string): void {
    const key = this.axes.find((one) => one.axis === axis && one.scope === scope)?.key;
    this.#publish('denied', amounts, { axis, key });
  }

  #publish(state: Message['state'], amounts: WholeAmounts, more: Partial<Message> = {}): void {
    if (!HOLD.hasSubscribers) return;
    this.#message ??= new Message(this.meter, this.id);
    HOLD.publish(Object.assign(this.#message, { state, amounts, axis: undefined, key: undefined }, more));
  }
}
