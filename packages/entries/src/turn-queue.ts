import type { Clock } from '@sluice/core';
import { type Departure, type PendingCall, setImmediate } from '@sluice/core/internal';
import { Gathered } from './gathered.js';

/** Calls that are decided together at most: others want the table too. */
const MOST = 500;

/** Gathers the calls of each tick of the event loop. One trip is under way at a time, and later calls gather meanwhile. */
export class TurnQueue {
  /** Resolves when no call is left; undefined if there is none. */
  working: Promise<void> | undefined;
  readonly #clock: Clock;
  readonly #decide: (turns: readonly Gathered[]) => Promise<void>;
  readonly #gathered: Gathered[] = [];
  /** The last of them, until this tick of the event loop is over. */
  #open: Gathered | undefined;

  /** @param decide makes one trip with the calls of these turns. Never rejects */
  constructor(clock: Clock, decide: (turns: readonly Gathered[]) => Promise<void>) {
    this.#clock = clock;
    this.#decide = decide;
  }

  readonly add = (call: PendingCall): Departure => {
    const turn = this.#open !== undefined && this.#open.calls.length < MOST ? this.#open : this.#begin();
    call.departure = turn;
    turn.calls.push(call);
    this.working ??= new Promise(setImmediate).then(this.#work);
    return turn;
  };

  #begin(): Gathered {
    const turn = new Gathered(this.#clock);
    this.#gathered.push(turn);
    this.#open = turn;
    setImmediate(() => {
      if (this.#open === turn) this.#open = undefined;
    });
    return turn;
  }

  /** Takes the turns that have gathered, as many as may be decided together. */
  #next(): Gathered[] {
    this.#open = undefined;
    let calls = 0;
    const rest = this.#gathered.findIndex((turn) => {
      calls += turn.calls.length;
      return calls > MOST;
    });
    return this.#gathered.splice(0, rest === -1 ? this.#gathered.length : Math.max(1, rest));
  }

  readonly #work = async (): Promise<void> => {
    for (let turns = this.#next(); turns.length > 0; turns = this.#next()) {
      await this.#decide(turns);
      // The event loop turns between two trips: a table without a network takes no time in which it could.
      if (this.#gathered.length > 0) await new Promise(setImmediate);
    }
    this.working = undefined;
  };
}
