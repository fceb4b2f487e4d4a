import { isStoreUnavailableError } from '@sluice/core';
import { checkFunction, checkInteger, checkOptions } from '@sluice/core/internal';
import type { Amounts } from './amounts.js';
import type { Denial } from './errors.js';
import type { Hold } from './hold.js';
import { Renewal } from './renewal.js';
import { settleAfter, settleFailed, settleFirst } from './settling.js';

/** The options of `meterStream`. */
export interface MeterStreamOptions<Chunk, Axes extends string> {
  /** The tokens of a chunk, by your tokenizer. */
  readonly count: (chunk: Chunk) => number;
  /** The amounts of the first tokens of the stream: `(tokens) => ({ output: tokens, usd: 3_000 + 15 * tokens })`. */
  readonly amountsOf: (tokens: number) => Amounts<Axes>;
  /** The tokens that the hold covers already. */
  readonly covered: number;
  /** How many more are held at once. Default 256. */
  readonly step?: number | undefined;
  /** Aborts the request to the provider when the stream ends early. */
  readonly abort?: AbortController | undefined;
  /** What was used, as the provider says at the end of the stream; undefined if it said nothing. Then the counted tokens are settled. */
  readonly used?: (() => Amounts<Axes> | undefined) | undefined;
  /**
   * Has the last chunk with tokens come? Then only figures follow, and no budget ends the stream. Until then `used` is not read: a stream that ends
   * early is settled by the counted tokens. Default: `used` is read when the stream has ended by itself.
   */
  readonly isComplete?: (() => boolean) | undefined;
  /** Makes a last chunk, which tells your reader that the budget has ended. */
  readonly last?: ((denial: Denial) => Chunk) | undefined;
}

/** More is requested when so much of the covered tokens has arrived. */
const SHARE = 0.8;

/** The step for the rest of a budget that has no room for a whole one. */
export const leastOf = (step: number): number => Math.max(1, Math.floor(step / 8));

/**
 * Passes the chunks of a stream on for as long as the budget lasts. Takes more in the background before the hold is used up. When there is no
 * more, or the hold has lapsed and others have taken its amounts, the stream ends: the provider's request is aborted, and what arrived is settled. It is settled also if the reader leaves or the
 * provider fails. At most the tokens of one chunk are beyond the budget. A reader that stops without `return` is noticed after a `ttl`: the hold
 * is no longer renewed, and lapses by its rule.
 *
 * The stream rejects with the error of the provider, a StoreUnavailableError, or a HoldLapsedError. If the store is out when a stream that has
 * failed is settled, that is a warning (SLUICE_REFUND_LOST): the stream rejects with its own error.
 * @throws RangeError, TypeError naming the invalid option
 */
export function meterStream<Chunk, Axes extends string>(
  hold: Hold<Axes>,
  chunks: AsyncIterable<Chunk>,
  options: MeterStreamOptions<Chunk, Axes>,
): AsyncGenerator<Chunk, void> {
  const { isComplete, used } = options;
  if (isComplete === undefined) return streamWithin(hold, chunks, options);
  const final = () => (isComplete() ? used?.() : undefined);
  return streamWithin(hold, chunks, { ...options, used: final }, { isComplete });
}

/** Facts about the stream of a model. */
interface KnownStream {
  /** The tokens that the program has requested at most. The hold never covers more for a stream that keeps to it. */
  readonly most?: number | undefined;
  /** Was the chunk before the last one with tokens? A budget that ends with it has stopped nothing, and figures that are there are final. */
  readonly isComplete?: () => boolean;
}

/** As `meterStream`. */
export function streamWithin<Chunk, Axes extends string>(
  hold: Hold<Axes>,
  chunks: AsyncIterable<Chunk>,
  options: MeterStreamOptions<Chunk, Axes>,
  { most = Number.POSITIVE_INFINITY, isComplete = () => false }: KnownStream = {},
): AsyncGenerator<Chunk, void> {
  checkOptions('meterStream', options, [
    ...(['count', 'amountsOf', 'covered', 'step', 'abort', 'used', 'isComplete', 'last'] as const),
  ]);
  const { count, amountsOf, abort, used, last } = options;
  checkFunction('meterStream: count', count);
  checkFunction('meterStream: amountsOf', amountsOf);
  const step = checkInteger('meterStream: step', options.step ?? 256, 1);
  const covered = checkInteger('meterStream: covered', options.covered, 0);
  const cover = new Cover(hold, amountsOf, covered, step, most);
  let isWaiting = false;
  async function* metered(): AsyncGenerator<Chunk, void> {
    let tokens = 0;
    let hasBegun = false;
    let isWhole = false;
    let hasFailed = false;
    try {
      yield STARTED as Chunk;
      hasBegun = true;
      cover.renewal.start();
      isWaiting = true;
      for await (const chunk of chunks) {
        isWaiting = false;
        tokens += checkInteger('meterStream: the result of count', count(chunk), 0);
        if (tokens >= SHARE * cover.tokens) cover.extend(tokens);
        cover.renewal.delivered();
        yield chunk;
        cover.renewal.awaited();
        isWaiting = true;
        if (isComplete()) continue;
        const denial = cover.lapsed ?? (cover.includes(tokens) ? undefined : await cover.extended(tokens));
        isWaiting = denial === undefined;
        if (denial === undefined) continue;
        cover.renewal.delivered();
        if (last !== undefined) yield last(denial);
        return;
      }
      // A source that ends without an error when it is aborted has no figures of its end.
      isWhole = abort?.signal.aborted !== true;
    } catch (error) {
      hasFailed = true;
      throw error;
    } finally {
      isWaiting = false;
      cover.renewal.stop();
      const settle = () => {
        if (!isWhole) abort?.abort();
        return settleFirst(hold, [
          () => (isWhole || isComplete() ? used?.() : undefined),
          () => amountsOf(tokens),
        ]);
      };
      if (hasFailed) await settleFailed(hold, settle());
      else await settleAfter(hold, async () => hasBegun || chunks[Symbol.asyncIterator]().return?.(), settle);
    }
  }
  const stream = metered();
  // A generator that has not begun has no `finally`: a reader that cancels before its first chunk would leave the hold open.
  void stream.next();
  const end = stream.return.bind(stream);
  stream.return = (value) => {
    if (isWaiting) abort?.abort(); // otherwise the end would wait for a provider that stalls
    return end(value);
  };
  return stream;
}

/** Taken by the first `next`, so no reader gets it. */
const STARTED: unknown = undefined;

/** The tokens that a hold covers. */
class Cover<Axes extends string> {
  #extending: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;
  /** Why there was no more. */
  #denial: Denial | undefined;
  readonly #least: number;
  readonly renewal: Renewal;
  /** The hold has lapsed, and its amounts no longer fit. */
  lapsed: Denial | undefined;

  constructor(
    readonly hold: Hold<Axes>,
    readonly amountsOf: (tokens: number) => Amounts<Axes>,
    public tokens: number,
    private step: number,
    readonly most: number,
  ) {
    this.#least = leastOf(step);
    const renewed = (denial: Denial | undefined) => {
      this.lapsed = denial;
      this.#answered();
    };
    this.renewal = new Renewal(hold, renewed, (error) => this.#fail(error));
  }

  /** Is this number of tokens paid for? */
  includes(tokens: number): boolean {
    return tokens < this.tokens || (tokens === this.tokens && tokens === this.most);
  }

  /** Begins to take more, unless that is under way or was denied. */
  extend(arrived: number): void {
    const { most } = this;
    const isEnough = this.tokens >= most && arrived <= most;
    if (this.#extending !== undefined || this.#denial !== undefined || isEnough) return;
    const wanted = Math.max(this.tokens, arrived) + this.step;
    const tokens = arrived <= most ? Math.min(wanted, most) : wanted;
    const more = this.hold.extend(difference(this.amountsOf(this.tokens), this.amountsOf(tokens)));
    const extended = more.then((denial) => {
      this.#denial = denial;
      this.#answered();
      if (denial !== undefined) return;
      this.tokens = tokens;
      this.lapsed = undefined; // all of its amounts are held again
    });
    this.#extending = this.#keep(extended).then(() => {
      this.#extending = undefined;
    });
  }

  /** The hold is used up: waits until more is there. @returns why there is no more */
  async extended(arrived: number): Promise<Denial | undefined> {
    await this.#wait();
    if (this.#denial === undefined && !this.includes(arrived)) {
      // One chunk was longer than the step, or that call has failed and the store answers again.
      this.extend(arrived);
      await this.#wait();
    }
    if (this.#denial !== undefined) {
      // It may be old: others have given back meanwhile, and less may fit.
      this.step = this.#least;
      this.#denial = undefined;
      this.extend(arrived);
      await this.#wait();
    }
    return this.#denial;
  }

  async #wait(): Promise<void> {
    await this.#extending;
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  /** The store is there again: the end of an outage ends no stream. */
  #answered(): void {
    if (isStoreUnavailableError(this.#failure?.error)) this.#failure = undefined;
  }

  /** An error in the background rejects the next wait. */
  #keep(work: Promise<unknown>): Promise<void> {
    return work.then(() => {}, this.#fail);
  }

  readonly #fail = (error: unknown): void => {
    this.#failure ??= { error };
  };
}

function difference<Axes extends string>(before: Amounts<Axes>, after: Amounts<Axes>): Amounts<Axes> {
  const entries = Object.entries(after) as [Axes, number][];
  return Object.fromEntries(
    entries.map(([axis, amount]) => [axis, Math.max(0, amount - (before[axis] ?? 0))]),
  ) as Amounts<Axes>;
}
