import { type Answer, EVERYONE } from '../decisions/call.js';
import { isStoreUnavailableError } from '../errors.js';
import { isDegraded, undo } from '../layers/stand-in-answer.js';
import type { Store } from '../stores/store.js';
import type { NamedPart } from './booking.js';
import { leaseOf } from './leases.js';
import { Listening } from './listening.js';
import { Turn } from './turn.js';

/** Signs of life in the time of one lease: who waits and is silent for a whole lease loses its place. */
const SIGNS_OF_LIFE = 3;
/** µs until the first look while nothing is listened to or the store does not answer, doubled with each that follows. */
const FIRST_LOOK = 100_000;

/** How long a call that waits sleeps until it looks by itself. */
class Looks {
  #next = FIRST_LOOK;

  /** @param lease µs after which it loses its place if it does not look */
  constructor(public lease: number) {}

  /** As nobody else would tell it. */
  next(): number {
    const pause = Math.min(this.#next, this.#third);
    this.#next *= 2;
    return pause;
  }

  /** As it is told of news. */
  longest(): number {
    this.#next = FIRST_LOOK;
    return this.#third;
  }

  get #third(): number {
    return Math.floor(this.lease / SIGNS_OF_LIFE);
  }
}

/** Waits for permits that others hold. A release lets in those who wait, in order, and the store tells them. */
export class Line {
  constructor(readonly store: Store) {}

  /**
   * @param first an answer by which it may stand in line already
   * @param left µs until the caller gives up
   * @returns allowed when it holds the permits, denied when its time was over
   * @throws StoreUnavailableError when the store is known to be out, or did not answer for a whole lease or until the caller's time was over
   */
  async wait(part: NamedPart, first: Answer, left: () => number, signal: AbortSignal): Promise<Answer> {
    if (!first.queued) signal.throwIfAborted();
    const answer = first.queued ? first : await this.#join(part, left());
    if (!answer.queued) return answer;
    const { store } = this;
    const place = { ...part, at: answer.parts[0]!.at };
    const turn = new Turn(store.clock, signal);
    const granted = (id: number) => {
      if (id === place.at || id === EVERYONE) turn.look();
    };
    const listening = new Listening(store, part.key, granted, turn);
    const ignore = store.fallback?.onOutage(part.key, (error) => turn.fail(error));
    try {
      const held = await this.#stand(place, turn, listening, left);
      // Silent for too long, it was taken for dead: it begins anew, at the end of the line.
      return held ?? (await this.wait(part, { ...first, queued: false }, left, signal));
    } catch (reason) {
      const left = this.#ask('refund', place).catch(() => {}); // then its place lapses with its lease
      if (!isStoreUnavailableError(reason)) await left;
      throw reason;
    } finally {
      ignore?.();
      listening.end();
      turn.end();
    }
  }

  async #stand(
    place: NamedPart,
    turn: Turn,
    listening: Listening,
    left: () => number,
  ): Promise<Answer | undefined> {
    const { clock } = this.store;
    const looks = new Looks(place.rule.window);
    let heard = clock.now();
    for (let pause = looks.next(); ; ) {
      listening.begin();
      await turn.nap(Math.min(pause, left()));
      const answer = await this.#ask('renew', place).catch((error: unknown) => {
        // Out of reach for a moment: its place is kept for as long as its lease goes on.
        const mayComeBack = isStoreUnavailableError(error) && error.reason !== 'closed';
        if (!mayComeBack || clock.now() - heard >= looks.lease || left() === 0) throw error;
        return undefined;
      });
      if (answer === undefined) {
        pause = looks.next();
        continue;
      }
      heard = clock.now();
      looks.lease = leaseOf(place, answer.parts[0]!);
      if (answer.allowed) return answer;
      if (!answer.queued) return undefined;
      if (left() === 0) {
        await this.#ask('refund', place);
        return { ...answer, queued: false };
      }
      pause = Math.min(answer.wait, listening.on ? looks.longest() : looks.next());
    }
  }

  async #join(part: NamedPart, wait: number): Promise<Answer> {
    const answer = await this.store.decide({ operation: 'acquire', wait, parts: [part] });
    if (!isDegraded(answer)) return answer;
    await undo(answer, [part]); // the caller asks the failure policies for its whole call
    throw answer.error;
  }

  async #ask(operation: 'renew' | 'refund', part: NamedPart): Promise<Answer> {
    return this.store.decide({ operation, wait: 0, parts: [part] });
  }
}
