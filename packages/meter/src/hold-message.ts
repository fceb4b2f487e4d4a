import type { HoldMessage } from '@sluice/core';
import { BOARD, HOLD } from '@sluice/core/internal';
import type { WholeAmounts } from './amounts.js';
import type { Denial } from './errors.js';
import type { HeldAxis } from './parts.js';

/** What subscribers know of one hold. The same object is published with each change. */
class Message implements HoldMessage {
  state: HoldMessage['state'] = 'held';
  amounts: WholeAmounts = {};
  axis: string | undefined = undefined;
  key: string | undefined = undefined;
  retryAfter: number | undefined = undefined;
  lapsesAt = 0;

  readonly #board: object | undefined;

  /** @param board by which the denials of a store are found */
  constructor(
    readonly meter: string,
    readonly id: string,
    board: object | undefined,
  ) {
    this.#board = board;
  }

  get [BOARD](): object | undefined {
    return this.#board;
  }
}

/** Publishes what becomes of one hold, if there is a subscriber. */
export class HoldMessages {
  #message: Message | undefined;

  constructor(
    readonly meter: string,
    readonly id: string,
    readonly axes: readonly HeldAxis[],
    readonly board: object | undefined,
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
  denied(amounts: WholeAmounts, { axis, scope, retryAfter }: Denial): void {
    const key = this.axes.find((one) => one.axis === axis && one.scope === scope)?.key;
    this.#publish('denied', amounts, { axis, key, retryAfter });
  }

  #publish(state: Message['state'], amounts: WholeAmounts, more: Partial<Message> = {}): void {
    if (!HOLD.hasSubscribers) return;
    this.#message ??= new Message(this.meter, this.id, this.board);
    const none = { axis: undefined, key: undefined, retryAfter: undefined };
    HOLD.publish(Object.assign(this.#message, { state, amounts }, none, more));
  }
}
