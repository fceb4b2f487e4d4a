import { NEVER } from '../../algorithms/algorithm.js';
import { isDegraded, mergeByKey } from '../../call/answers.js';
import { type Answer, type Decider, isHeld, type Part, storageKey } from '../../call/call.js';
import { isStoreUnavailableError } from '../../errors.js';
import { isOutage } from '../../store-refusal.js';
import { LeaseQueue } from './lease-queue.js';
import type { Leases } from './leases.js';

/** A denied call may still wait in the queue for permits that other calls hold. */
export const mayQueue = (parts: readonly Part[], answer: Answer): boolean =>
  !answer.allowed &&
  answer.wait !== NEVER &&
  parts.some(isHeld) &&
  !(isDegraded(answer) && answer.source.name === 'deny');

/** Was a call denied that had the time to wait? @param waited µs, of `timeout` */
export const isQueueFull = (
  parts: readonly Part[],
  { allowed, wait }: Answer,
  waited: number,
  timeout: number,
): boolean =>
  !allowed &&
  wait !== NEVER &&
  waited < timeout &&
  // A call waits for held permits even if the leases may end later than its timeout.
  (waited + wait <= timeout || (parts.length === 1 && isHeld(parts[0]!)));

/** Where an answer took its permits. @param decider of the limiter */
export const answeredBy = (answer: Answer, decider: Decider): Decider => answer.source?.decider ?? decider;

/** Waits for permits that other calls hold, and gives permits back. */
export class HeldPermits {
  constructor(
    private readonly decider: Decider,
    private readonly leases: Leases,
  ) {}

  /** Waits in the queue. If the store goes out meanwhile, its failure policies decide for the rest of the wait. */
  async wait(parts: readonly Part[], first: Answer, end: number, signal: AbortSignal): Promise<Answer> {
    try {
      return await this.#waitForHeld(parts, first, end, signal);
    } catch (error) {
      const decider = answeredBy(first, this.decider);
      if (decider.decideWithoutStore === undefined || !isStoreUnavailableError(error)) throw error;
      signal.throwIfAborted();
      const wait = Math.max(0, end - decider.clock.now());
      const answer = decider.decideWithoutStore({ operation: 'acquire', wait, parts }, error);
      return wait > 0 && mayQueue(parts, answer) ? this.wait(parts, answer, end, signal) : answer;
    }
  }

  /**
   * Waits for held permits first, one part after the other in the order of their keys, so that no two calls wait for each other.
   * Then waits, while it holds them, for the moment at which the rest is due.
   */
  async #waitForHeld(
    parts: readonly Part[],
    first: Answer,
    end: number,
    signal: AbortSignal,
  ): Promise<Answer> {
    const store = answeredBy(first, this.decider);
    const queue = new LeaseQueue(store);
    const left = () => Math.max(0, end - store.clock.now());
    const answers = [...first.parts];
    const taken: Part[] = [];
    let answer = first;
    try {
      for (const part of parts.filter(isHeld).sort((a, b) => (storageKey(a) < storageKey(b) ? -1 : 1))) {
        answer = await queue.wait(part, answer, left, signal);
        answers[parts.indexOf(part)] = answer.parts[0]!;
        if (!answer.allowed) break;
        if (part.cost === 0) continue; // it may have waited for the end of a block, and holds nothing
        const own = { ...part, at: answer.parts[0]!.at };
        taken.push(own);
        this.leases.hold(store, taken, own, answer.parts[0]!); // the other parts may take long
      }
      const rest = parts.filter((part) => !isHeld(part));
      if (answer.allowed && rest.length > 0) {
        answer = await queue.acquire(rest, left());
        rest.forEach((part, i) => {
          answers[parts.indexOf(part)] = answer.parts[i]!;
        });
      }
      if (!answer.allowed) await this.giveBack(store, taken);
      return { ...first, ...answer, parts: answers };
    } catch (error) {
      const back = this.giveBack(store, taken).catch(() => {}); // if this fails, their leases expire
      if (!isOutage(error)) await back;
      throw error;
    }
  }

  /** Returns permits; the leases of held ones are no longer renewed. */
  async giveBack(store: Decider, parts: readonly Part[]): Promise<void> {
    for (const part of parts) this.leases.release(part);
    if (parts.length > 0) await store.decide({ operation: 'refund', wait: 0, parts: mergeByKey(parts) });
  }
}
