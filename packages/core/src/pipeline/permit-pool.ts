import type { Clock } from '../clock.js';
import type { Answer, Call, Part, PartAnswer } from '../engine/call.js';
import type { Store } from '../stores/store.js';
import type { StandInAnswer } from './fallback-answer.js';
import type { Prefetch } from './policy-limit.js';

/** Permits that were taken together and are not spent yet. */
export interface Block {
  /** Where they were taken. */
  readonly store: Store;
  readonly part: Part;
  /** What the store said when they were taken. */
  readonly answer: Answer;
  /** µs of this process's clock, before the store was asked: so no moment of the answer is taken for later than it is. */
  readonly asked: number;
  /** Until when they may be spent, on the same clock. */
  readonly until: number;
  left: number;
}

/** The permits of one key that this process has ahead, and how many it takes next. */
export class Stock {
  #taking: Promise<Answer> | undefined;
  /** Permits that are on their way and that nobody waits for yet. */
  #coming = 0;
  #block: Block | undefined;
  #size = 0;
  #remaining = 0;
  #life = 0;
  #asked = Number.NEGATIVE_INFINITY;

  constructor(readonly prefetch: Prefetch) {}

  /** A block is being taken: settles when it is here or refused. */
  get taking(): Promise<Answer> | undefined {
    return this.#taking;
  }

  /** From now on a block with so many permits ahead is on its way, or none. */
  expect(taking: Promise<Answer> | undefined, ahead: number): void {
    this.#taking = taking;
    this.#coming = ahead;
  }

  /** Is there enough on its way for one more who waits for it? */
  claim(cost: number): boolean {
    if (this.#coming < cost) return false;
    this.#coming -= cost;
    return true;
  }

  /** Permits that can be spent at `now`; what cannot any more goes back. */
  left(now: number): number {
    const block = this.#block;
    if (block === undefined) return 0;
    if (now < block.until && now >= block.asked) return block.left;
    this.#block = undefined;
    // As many as were spent, but not less than half: one slow moment is not a trend.
    this.#size = Math.max(this.#size >> 1, this.#size - block.left);
    void giveBack(block, now);
    return 0;
  }

  /** The answer to who spends `cost`, if there are so many. @param by whose answer it is told to be */
  spend(cost: number, now: number, by: Store): StandInAnswer | undefined {
    if (this.left(now) < cost) return undefined;
    const block = this.#block!;
    block.left -= cost;
    const { answer, asked, left } = block;
    if (left === 0) this.#block = undefined;
    return later(answer, now - asked, left, by);
  }

  /** Takes away what is left, to be given back or forgotten. */
  withdraw(now: number): Block | undefined {
    const block = this.left(now) > 0 ? this.#block : undefined;
    this.#block = undefined;
    return block;
  }

  /** The same, of what is on its way, too. */
  async take(clock: Clock): Promise<Block | undefined> {
    await this.taking?.catch(() => {}); // its caller is told
    return this.withdraw(clock.now());
  }

  /** Gives everything back, through `by` where a layer of that is to see it. */
  async empty(clock: Clock, by?: Store): Promise<void> {
    const block = await this.take(clock);
    if (block !== undefined) await giveBack({ ...block, store: by ?? block.store }, clock.now());
  }

  put(block: Block): void {
    this.#block = block;
  }

  /** How many to take ahead: twice as many when the last were spent quickly, half after a pause; at most half of what the store had left. */
  next(now: number): number {
    const pause = now - this.#asked;
    if (pause < this.#life / 4) this.#size = Math.min(this.prefetch.most, Math.max(1, this.#size * 2));
    else if (pause >= this.#life) this.#size >>= 1;
    this.#asked = now;
    return Math.min(this.#size, Math.floor(this.#remaining / 2));
  }

  /**
   * Near the limit, and under other numbers than the policy's own, nothing is taken ahead.
   * @param life µs for which permits of this answer may be spent
   */
  learn({ allowed, parts: [said] }: Answer, life: number): void {
    this.#remaining = said!.remaining;
    this.#life = allowed ? life : 0;
    if (said!.override !== undefined) this.#size = 0;
  }

  /** So much was asked, when it was looked at last, that permits are taken ahead. */
  get isBusy(): boolean {
    return this.#size > 0;
  }

  /** Nothing here, nothing on its way, and nobody came for long. */
  isIdle(now: number): boolean {
    return (
      this.left(now) === 0 && this.taking === undefined && now - this.#asked >= 2 * this.prefetch.longest
    );
  }
}

/** What was said, `micros` later, by who has `left` permits besides. Written out: to spread objects would take longer than all the rest. */
function later(
  { allowed, queued, now, wait, parts }: Answer,
  micros: number,
  left: number,
  by: Store,
): StandInAnswer {
  const said = parts[0]!;
  const part: PartAnswer = {
    remaining: said.remaining + left,
    wait: said.wait,
    reset: Math.max(0, said.reset - micros),
    at: said.at,
    override: said.override,
  };
  return { allowed, queued, now: now + micros, wait, parts: [part], by };
}

/** To the store. Should it be out, they come back by themselves, as all do that were spent. */
export async function giveBack({ store, part, answer, asked, left }: Block, now: number): Promise<void> {
  if (left === 0 || now - asked >= answer.parts[0]!.reset) return; // they are back by now
  try {
    await store.decide(backOf({ ...part, cost: left }, answer));
  } catch {} // told to whoever asks for a decision
}

/** What gives back permits that were taken with this answer. */
export const backOf = (part: Part, { parts: [said] }: Answer): Call => ({
  operation: 'refund',
  wait: 0,
  parts: [{ ...part, at: said!.at }],
});
