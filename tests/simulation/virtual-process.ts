import type { Surroundings, Timer } from './globals.js';
import type { Instance, Product } from './instance.js';
import { type Scheduler, TURN } from './scheduler.js';

/** µs after the start of a turn at which a process reads what has arrived: first come its timers. */
const READS = 1;

/** A process of the fleet: an event loop on virtual time. It can be frozen and killed. */
export class VirtualProcess implements Surroundings {
  readonly product: Product;
  readonly timers = new Set<Timer>();
  /** It was killed: nothing of it runs any more. */
  killed = false;
  /** Callbacks that wait for the next tick of its event loop. */
  #nextTurns = 0;
  #frozenUntil = 0;
  readonly #standstills: { readonly from: number; readonly until: number }[] = [];

  constructor(
    readonly name: string,
    readonly instance: Instance,
    readonly scheduler: Scheduler,
    readonly random: () => number,
  ) {
    this.product = instance.product;
    instance.surroundings = this;
  }

  get now(): number {
    return this.scheduler.now;
  }

  after(ms: number, work: () => void, timer: Timer): () => void {
    this.timers.add(timer);
    const due = this.now + Math.ceil(ms) * 1000 + Math.floor(this.random() * 1_000);
    const cancel = this.#at(due, 0, () => {
      this.timers.delete(timer);
      work();
    });
    return () => {
      this.timers.delete(timer);
      cancel();
    };
  }

  nextTurn(work: () => void): void {
    this.#nextTurns += 1;
    this.#at(this.now + TURN, 0, () => {
      this.#nextTurns -= 1;
      work();
    });
  }

  /** Something arrives from outside: it is read when the process runs. */
  receive(moment: number, work: () => void): void {
    this.#at(moment, READS, work);
  }

  /** @returns a function that cancels it */
  #at(moment: number, late: number, work: () => void): () => void {
    const run = () => {
      if (this.killed) return;
      // Of timers that are all late, any may be first.
      if (this.now < this.#frozenUntil)
        event = this.scheduler.at(this.#frozenUntil + late + (late === 0 ? this.random() / 2 : 0), run);
      else work();
    };
    let event = this.scheduler.at(moment, run);
    return () => this.scheduler.cancel(event);
  }

  /** It is blocked: time passes, and none of its code runs. */
  freeze(micros: number): void {
    const from = Math.max(this.#frozenUntil, this.now);
    this.#frozenUntil = Math.max(from, this.now + micros);
    this.#standstills.push({ from, until: this.#frozenUntil });
  }

  /** µs for which it was blocked since a moment. */
  frozenSince(moment: number): number {
    return this.#standstills.reduce(
      (sum, { from, until }) => sum + Math.max(0, Math.min(until, this.now) - Math.max(from, moment)),
      0,
    );
  }

  kill(): void {
    this.killed = true;
  }

  /** It was killed within a tick: its copy of the product still waits for the end of this tick. */
  get endedWithinTurn(): boolean {
    return this.#nextTurns > 0;
  }
}
