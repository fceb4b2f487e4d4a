import { checkInteger } from '@sluice/core/internal';
import type { Amounts } from '../amounts.js';
import { isBudgetExceededError } from '../errors.js';
import type { Hold } from '../hold.js';
import { keepAlive, meterStream, settleFirst } from '../meter-stream.js';
import type { checkModelOptions } from './model-options.js';
import { type Figures, type Reader, stopOf, type Usage, type Wire } from './reader.js';

/** A call of a model, before it is sent. */
export interface ModelCall {
  readonly model: string;
  /** All its text. */
  readonly prompt: string;
  /** The most output tokens that the program has requested. */
  readonly most: number | undefined;
  readonly isStream: boolean;
  /** Of the program. */
  readonly signal: AbortSignal | null | undefined;
}

type Setting<Who, Axes extends string> = ReturnType<typeof checkModelOptions<Who, Axes>>;

/** An event of a stream, as a program receives it. */
interface Step {
  readonly text: string;
  readonly events: readonly Wire[];
  readonly isLast: boolean;
}

/** Holds the prompt and the first output of a call: all that it may generate, unless it is a stream. @throws as `hold` does */
export async function beginSpend<Who, Axes extends string>(
  setting: Setting<Who, Axes>,
  call: ModelCall,
): Promise<Spend<Axes>> {
  const { budget, who, count, step, where } = setting;
  const { prompt, most, isStream } = call;
  const countText = (text: string) =>
    text === '' ? 0 : checkInteger(`${where}: the result of count`, count(text), 0);
  const input = countText(prompt);
  const amounts = ({ input: given = input, output = 0, cacheRead = 0, cacheWrite = 0 }: Figures) =>
    setting.amounts({ model: call.model, input: given, output, cacheRead, cacheWrite });
  const begin = async (first: number) =>
    new Spend(await budget.hold(who, amounts({ output: first })), {
      ...{ call, first, step, input, amounts },
      count: countText,
    });
  if (!isStream) return begin(most ?? step);
  const first = Math.min(most ?? step, step);
  const least = Math.max(1, Math.floor(step / 8));
  return begin(first).catch((error: unknown) => {
    const hasSome = isBudgetExceededError(error) && error.left > 0; // the rest of a budget with no room for a whole step
    if (first <= least || !hasSome) throw error;
    return begin(least);
  });
}

/** What makes one. */
interface Parts<Axes extends string> {
  readonly call: ModelCall;
  /** The output tokens that the hold covers. */
  readonly first: number;
  readonly step: number;
  readonly input: number;
  readonly count: (text: string) => number;
  readonly amounts: (figures: Figures) => Amounts<Axes>;
}

/** The hold of one call of a model, from before it is sent until it is settled. */
export class Spend<Axes extends string> {
  readonly #abort = new AbortController();
  /** Ends the listeners of the program's signal, which may live longer. */
  readonly #over = new AbortController();

  constructor(
    readonly hold: Hold<Axes>,
    readonly parts: Parts<Axes>,
  ) {
    this.#onAbort((reason) => this.#abort.abort(reason));
  }

  /**
   * Sends the request. If that fails, nothing is counted. If the program aborts it after it was sent, the prompt is counted: the provider has it.
   * @throws the error of the request
   */
  async send<T>(request: (signal: AbortSignal) => PromiseLike<T>): Promise<T> {
    const { signal } = this.#abort;
    const wasAborted = signal.aborted;
    const stopRenewing = keepAlive(this.hold, () => {}); // a failure of the store rejects what settles the hold
    try {
      return await request(signal);
    } catch (error) {
      this.#over.abort();
      if (signal.aborted && !wasAborted) await this.hold.settle(this.parts.amounts({}));
      else await this.hold.cancel();
      throw error;
    } finally {
      stopRenewing();
    }
  }

  /** Settles a call that the provider has refused. */
  async refused(): Promise<void> {
    this.#over.abort();
    await this.hold.cancel();
  }

  /** Settles a call whose answer is there. @param answer its text, which is counted if the provider sent no figures */
  async answered(figures: Figures, answer: () => string): Promise<void> {
    this.#over.abort();
    const { amounts, count } = this.parts;
    await settleFirst(this.hold, [
      () => (figures.output === undefined ? undefined : amounts(figures)),
      () => amounts({ ...figures, output: count(answer()) }),
    ]);
  }

  /** The stream, for as long as the budget lasts. @param write makes what the program reads of an event */
  stream<Event, Out>(
    events: AsyncIterable<Event>,
    reader: Reader,
    write: (event: Wire) => Out,
  ): ReadableStream<Out> {
    const { first, step, count, amounts, input, call } = this.parts;
    let output = 0;
    async function* steps(): AsyncGenerator<Step> {
      for await (const event of events) {
        const text = reader.read(event);
        yield { text, events: reader.hides?.(event) ? [] : [event], isLast: false };
      }
    }
    const usage = (): Usage => {
      const { cacheRead = 0, cacheWrite = 0 } = reader.figures;
      return { model: call.model, input: reader.figures.input ?? input, output, cacheRead, cacheWrite };
    };
    const metered = meterStream(this.hold, steps(), {
      covered: first,
      step,
      abort: this.#abort,
      count: ({ text }) => {
        const tokens = count(text);
        output += tokens;
        return tokens;
      },
      amountsOf: (tokens) => amounts({ ...reader.figures, output: tokens }),
      used: () => (reader.figures.output === undefined ? undefined : amounts(reader.figures)),
      last: (denial) => ({ text: '', events: reader.end(stopOf(denial), usage()), isLast: true }),
    });
    return this.#readable(metered, write);
  }

  #readable<Out>(steps: AsyncGenerator<Step, void>, write: (event: Wire) => Out): ReadableStream<Out> {
    const end = async (reason: unknown) => {
      this.#over.abort();
      this.#abort.abort(reason);
      await steps.return().catch((error: unknown) => {
        const isAborted = error === this.#abort.signal.reason; // the provider's connection: this has closed it
        if (!isAborted) throw error;
      });
    };
    return new ReadableStream<Out>(
      {
        start: (controller) => {
          const fail = (error: unknown) => controller.error(error);
          this.#onAbort((reason) => void end(reason).then(() => fail(reason), fail));
        },
        pull: async (controller) => {
          try {
            for (;;) {
              const { value, done } = await steps.next();
              if (done) break;
              for (const event of value.events) controller.enqueue(write(event));
              if (value.isLast)
                await steps.next(); // settles also if the program reads no further
              else if (value.events.length > 0) return;
            }
          } catch (error) {
            this.#over.abort();
            throw error;
          }
          this.#over.abort();
          controller.close();
        },
        cancel: end,
      },
      { highWaterMark: 0 },
    );
  }

  #onAbort(act: (reason: unknown) => void): void {
    const { signal } = this.parts.call;
    if (signal?.aborted) act(signal.reason);
    else
      signal?.addEventListener('abort', () => act(signal.reason), { once: true, signal: this.#over.signal });
  }
}
