import { type Decision, isRateLimitExceededError } from '@sluice/core';
import { getOrCreate, Stop } from '@sluice/core/internal';
import { CallQueues } from '../calls/call-queue.js';
import type { WaitLimits } from '../calls/time.js';
import { OPEN, type Pauses } from './pauses.js';

/** Calls of this process that wait in the store for one key; others wait in this process. */
const WAITING = 4;

const PAUSED = new Error('The scope was paused again');

/** The right to run one call while a scope recovers. */
export interface RampPermit {
  readonly key: string;
  /** How many calls might run at once when it was given. */
  readonly level: number;
  readonly decision: Decision;
}

/** After a pause one call of all processes probes. Each success doubles the number of calls that may run at once, until the scope is open. */
export class Ramps {
  readonly #queues: CallQueues;
  /** Ends the waits in the store, by their keys. */
  readonly #waits = new Map<string, Set<Stop>>();

  /** @param isPaced limits that are known in advance pace the calls: after the probe all may run */
  constructor(
    readonly pauses: Pauses,
    readonly isPaced: boolean,
  ) {
    this.#queues = new CallQueues(WAITING, () => pauses.now);
  }

  /**
   * Waits, first come, first served. Resolves to undefined if the scope does not recover any more: it is open, or paused again.
   * @throws the signal's reason; `tooLate()` after the deadline
   */
  enter(key: string, limits: WaitLimits, tooLate: () => Error): Promise<RampPermit | undefined> {
    const work = async (): Promise<RampPermit | undefined> => {
      const { recovering } = await this.pauses.look([key]);
      return recovering.length === 0 ? undefined : this.#acquire(key, limits, tooLate);
    };
    return this.#queues.run(key, 0, { limits, work, waitedOf: () => 0, tooLate: async () => tooLate() });
  }

  /** The same without waiting. Undefined: too many calls run, or the scope is paused again. */
  async tryEnter(key: string): Promise<RampPermit | undefined> {
    const decision = await this.pauses.gate.consume(key);
    return decision.allowed ? { key, level: decision.limit, decision } : undefined;
  }

  async #acquire(
    key: string,
    { deadline, signal }: WaitLimits,
    tooLate: () => Error,
  ): Promise<RampPermit | undefined> {
    const stop = new Stop(signal);
    const waits = getOrCreate(this.#waits, key, () => new Set());
    waits.add(stop);
    try {
      const timeout = Math.max(0, deadline - this.pauses.now);
      const decision = await this.pauses.gate.acquire(key, { timeout, signal: stop.signal });
      return { key, level: decision.limit, decision };
    } catch (error) {
      if (error === PAUSED) return undefined;
      throw isRateLimitExceededError(error) ? tooLate() : error;
    } finally {
      stop.end();
      waits.delete(stop);
      if (waits.size === 0) this.#waits.delete(key);
    }
  }

  /** The scope is paused again: calls that wait in the store wait for the end of the pause instead. */
  interrupt(key: string): void {
    for (const stop of this.#waits.get(key) ?? []) stop.abort(PAUSED);
  }

  /** The call has succeeded. */
  async succeeded({ key, level }: RampPermit): Promise<void> {
    if (level < OPEN) await this.pauses.advance(key, this.isPaced ? OPEN : 2 * level);
  }

  /** @throws StoreConfigurationError. While the store is out, the permit comes back when its lease ends */
  async leave({ decision }: RampPermit): Promise<void> {
    await this.pauses.gate.release(decision);
  }
}
