import { type Answer, EVERYONE } from '../decisions/call.js';
import { isStoreUnavailableError } from '../errors.js';
import type { Store } from '../stores/store.js';
import type { NamedPart } from './booking.js';
import { leaseOf } from './leases.js';
import { onAbort } from './on-abort.js';

const TURN = Symbol('it is your turn');
/** Signs of life in the time of one lease: who waits and is silent for a whole lease loses its place. */
const SIGNS_OF_LIFE = 3;

/** Waits for permits that others hold. A release lets in those who wait, in order, and the store tells them. */
export class Line {
  constructor(readonly store: Store) {}

  /**
   * @param first an answer by which it may stand in line already
   * @param left µs until the caller gives up
   * @returns allowed when it holds the permits, denied when its time was over
   */
  async wait(part: NamedPart, first: Answer, left: () => number, signal: AbortSignal): Promise<Answer> {
    if (!first.queued) signal.throwIfAborted();
    const answer = first.queued ? first : await this.#ask('acquire', part, left());
    if (!answer.queued) return answer;
    const place = { ...part, at: answer.parts[0]!.at };
    const turn = new Turn(signal);
    let stop = () => {};
    try {
      signal.throwIfAborted();
      stop = await this.store.listen(part.key, (id) => {
        if (id === place.at || id === EVERYONE) turn.come();
      });
      const held = await this.#stand(place, turn, left);
      // Silent for too long, it was taken for dead: it begins anew, at the end of the line.
      return held ?? (await this.wait(part, { ...first, queued: false }, left, signal));
    } catch (reason) {
      await this.#ask('refund', place, 0).catch(() => {}); // then its place lapses with its lease
      throw reason;
    } finally {
      stop();
      turn.end();
    }
  }

  async #stand(place: NamedPart, turn: Turn, left: () => number): Promise<Answer | undefined> {
    const { clock } = this.store;
    let lease = place.rule.window;
    for (let heard = clock.now(); ; ) {
      // Asked at once, too: it may have been let in before it listened.
      const answer = await this.#ask('renew', place, 0).catch((error: unknown) => {
        // Out of reach for a moment: its place is kept for as long as its lease goes on.
        const mayComeBack = isStoreUnavailableError(error) && error.reason !== 'closed';
        if (!mayComeBack || clock.now() - heard >= lease || left() === 0) throw error;
        return undefined;
      });
      if (answer === undefined) {
        await turn.nap(this.store, Math.min(Math.floor(lease / SIGNS_OF_LIFE), left()));
        continue;
      }
      heard = clock.now();
      lease = leaseOf(place, answer.parts[0]!);
      if (answer.allowed) return answer;
      if (!answer.queued) return undefined;
      if (left() === 0) {
        await this.#ask('refund', place, 0);
        return { ...answer, queued: false };
      }
      await turn.nap(this.store, Math.min(answer.wait, Math.floor(lease / SIGNS_OF_LIFE), left()));
    }
  }

  async #ask(operation: 'acquire' | 'renew' | 'refund', part: NamedPart, wait: number): Promise<Answer> {
    return this.store.decide({ operation, wait, parts: [part] });
  }
}

/** The moment when one who waits should look again: let in, patience over, or called off. */
class Turn {
  #come = false;
  #nap: AbortController | undefined;
  readonly #ignore: () => void;

  constructor(readonly signal: AbortSignal) {
    this.#ignore = onAbort(signal, () => this.#nap?.abort(signal.reason));
  }

  come(): void {
    this.#come = true;
    this.#nap?.abort(TURN);
  }

  async nap({ clock }: Store, micros: number): Promise<void> {
    this.signal.throwIfAborted();
    if (this.#come) {
      this.#come = false;
      return;
    }
    this.#nap = new AbortController();
    await clock.sleep(micros, this.#nap.signal).catch((reason: unknown) => {
      if (reason !== TURN) throw reason;
    });
  }

  end(): void {
    this.#ignore();
  }
}
