import type { Cost } from '@sluice/core';
import { checkInteger } from '@sluice/core/internal';
import type { Amounts } from '../amounts.js';
import { isBudgetExceededError } from '../errors.js';
import type { Hold } from '../hold.js';
import { leastOf, type MeterStreamOptions, streamWithin } from '../meter-stream.js';
import { Renewal } from '../renewal.js';
import { settleFailed, settleFirst } from '../settling.js';
import type { checkModelOptions, LimitedService } from './model-options.js';
import { type Figures, type Reader, stopOf, type Usage, type Wire } from './reader.js';

/** A call of a model, before it is sent. */
export interface ModelCall {
  readonly model: string;
  /** All its text. */
  readonly prompt: string;
  /** The most output tokens, as the program has written them. */
  readonly most: number | undefined;
  readonly isStream: boolean;
  /** Of the program. */
  readonly signal: AbortSignal | null | undefined;
}

type Setting<Who, Axes extends string> = ReturnType<typeof checkModelOptions<Who, Axes>>;

function checkCost(where: string, cost: Cost): Cost {
  for (const one of typeof cost === 'number' ? [cost] : Object.values(cost)) checkInteger(where, one, 0);
  return cost;
}

/** The events that end a stream with the budget. */
class Ending {
  constructor(readonly events: readonly Wire[]) {}
}

/** Holds the prompt and the first output of a call: all that it may generate, unless it is a stream. @throws as `hold` does */
export async function beginSpend<Who, Axes extends string>(
  setting: Setting<Who, Axes>,
  call: ModelCall,
): Promise<Spend<Axes>> {
  const { budget, who, count, step, where } = setting;
  const { prompt, isStream } = call;
  // Some servers read -1 as no limit.
  const most = Number.isSafeInteger(call.most) && call.most! >= 0 ? call.most : undefined;
  const countText = (text: string) =>
    text === '' ? 0 : checkInteger(`${where}: the result of count`, count(text), 0);
  const input = countText(prompt);
  const usageOf = ({ input: given = input, output = 0, cacheRead = 0, cacheWrite = 0 }: Figures): Usage => {
    return { model: call.model, input: given, output, cacheRead, cacheWrite };
  };
  const amounts = (figures: Figures) => setting.amounts(usageOf(figures));
  const { upstream, cost } = setting;
  const costOf = (figures: Figures) => checkCost(`${where}: the result of cost`, cost!(usageOf(figures)));
  // A bad cost is refused before anything is held.
  const known = cost && { estimate: costOf({ output: most ?? step }), of: costOf };
  const taken = upstream && { service: upstream, known };
  const begin = async (first: number) =>
    new Spend(await budget.hold(who, amounts({ output: first })), {
      ...{ call, most, first, step, input, amounts, taken },
      count: countText,
    });
  if (!isStream) return begin(most ?? step);
  const first = Math.min(most ?? step, step);
  const least = leastOf(step);
  return begin(first).catch((error: unknown) => {
    const hasSome = isBudgetExceededError(error) && error.left > 0; // the rest of a budget with no room for a whole step
    if (first <= least || !hasSome) throw error;
    return begin(least);
  });
}

/** What makes one. */
interface Parts<Axes extends string> {
  readonly call: ModelCall;
  /** The most output tokens that the program has requested. */
  readonly most: number | undefined;
  /** The output tokens that the hold covers. */
  readonly first: number;
  readonly step: number;
  readonly input: number;
  readonly count: (text: string) => number;
  readonly amounts: (figures: Figures) => Amounts<Axes>;
  /** What the call takes of the limits of its service. */
  readonly taken:
    | {
        readonly service: LimitedService;
        /** Undefined: what the options of the service say. */
        readonly known: { readonly estimate: Cost; readonly of: (figures: Figures) => Cost } | undefined;
      }
    | undefined;
}

/** The hold of one call of a model, from before it is sent until it is settled. */
export class Spend<Axes extends string> {
  readonly #abort = new AbortController();
  /** Ends the listeners of the program's signal, which may live longer. */
  readonly #over = new AbortController();
  /** What it has used; undefined: as much as was estimated. */
  readonly #used: Promise<Figures | undefined>;
  #setUsed!: (figures: Figures | undefined) => void;
  /** Is the request on its way? It may wait for the limits of its service before, and between two attempts. */
  #wasSent = false;

  constructor(
    readonly hold: Hold<Axes>,
    readonly parts: Parts<Axes>,
  ) {
    this.#used = new Promise((resolve) => {
      this.#setUsed = resolve;
    });
    this.#onAbort((reason) => this.#abort.abort(reason));
  }

  /**
   * Sends the request. If that fails, nothing is counted. If the program aborts it after it was sent, the prompt is counted: the provider has it.
   * A hold that has lapsed meanwhile ends the stream that follows. A whole answer is paid already: it passes, and all of it is settled.
   * @throws the error of the request
   */
  async send<T>(request: (signal: AbortSignal) => PromiseLike<T>): Promise<T> {
    const { signal } = this.#abort;
    const wasAborted = signal.aborted;
    const ignore = () => {}; // the stream renews at once if it was denied; a failure of the store rejects the call that settles the hold
    const renewal = new Renewal(this.hold, ignore, ignore);
    renewal.start();
    try {
      return await this.#withCost(() => request(signal));
    } catch (error) {
      this.#end(undefined);
      const { amounts } = this.parts;
      const wasCut = this.#wasSent && signal.aborted && !wasAborted;
      await settleFailed(
        this.hold,
        wasCut ? settleFirst(this.hold, [() => amounts({})]) : this.hold.cancel(),
      );
      throw error;
    } finally {
      renewal.stop();
    }
  }

  /** Within the limits of the service, which wait for room. What the call has used counts there, too. */
  #withCost<T>(work: () => PromiseLike<T>): PromiseLike<T> {
    const { taken } = this.parts;
    const sent = (isSent: boolean) => {
      this.#wasSent = isSent;
    };
    if (taken === undefined) {
      sent(true);
      return work();
    }
    const { service, known } = taken;
    const actual = this.#used.then((figures) => figures && known?.of(figures));
    return service.withCost(known?.estimate, actual, work, sent);
  }

  /** The call is over. @param used undefined: not known */
  #end(used: Figures | undefined): void {
    this.#over.abort();
    this.#setUsed(used);
  }

  /** Settles a call that the provider has refused. */
  async refused(): Promise<void> {
    this.#end(undefined);
    await settleFailed(this.hold, this.hold.cancel());
  }

  /** Settles a call whose answer broke off: what was held is counted. */
  async brokeOff(): Promise<void> {
    this.#end(undefined);
    await settleFailed(this.hold, this.hold.settle({} as Amounts<Axes>));
  }

  /**
   * Settles a call whose answer is there.
   * @param answer its text, which is counted if the provider sent no figures; undefined: nothing can be read, and what was held is counted
   */
  async answered(figures: Figures, answer: () => string | undefined): Promise<void> {
    this.#over.abort();
    const { amounts, count } = this.parts;
    let used: Figures | undefined;
    const amountsOf = (known: Figures) => {
      used = known;
      return amounts(known);
    };
    try {
      await settleFirst(this.hold, [
        () => (figures.output === undefined ? undefined : amountsOf(figures)),
        () => {
          const text = answer();
          return text === undefined ? undefined : amountsOf({ ...figures, output: count(text) });
        },
      ]);
    } finally {
      this.#end(used);
    }
  }

  /** The stream, for as long as the budget lasts. @param write makes what the program reads of an event */
  stream<Event, Out>(
    events: AsyncIterable<Event>,
    reader: Reader,
    write: (event: Wire) => Out,
  ): ReadableStream<Out> {
    const { first, most, step, count, amounts, input, call } = this.parts;
    let output = 0;
    const usage = (): Usage => {
      const { cacheRead = 0, cacheWrite = 0 } = reader.figures;
      return { model: call.model, input: reader.figures.input ?? input, output, cacheRead, cacheWrite };
    };
    const options: MeterStreamOptions<Event | Ending, Axes> = {
      covered: first,
      step,
      abort: this.#abort,
      count: (event) => {
        const tokens = count(reader.read(event));
        output += tokens;
        return tokens;
      },
      amountsOf: (tokens) => amounts({ ...reader.figures, output: tokens }),
      used: () => (reader.figures.output === undefined ? undefined : amounts(reader.figures)),
      last: (denial) => new Ending(reader.end(stopOf(denial), usage())),
    };
    const isComplete = () => reader.isComplete ?? false;
    const metered = streamWithin<Event | Ending, Axes>(this.hold, events, options, { most, isComplete });
    const over = () => this.#end({ ...reader.figures, output: reader.figures.output ?? output });
    return this.#readable(metered, (event) => (reader.hides?.(event) ? undefined : write(event)), over);
  }

  /**
   * @param write returns undefined for an event that the program did not request
   * @param over called at the end
   */
  #readable<Event, Out>(
    steps: AsyncGenerator<Event | Ending, void>,
    write: (event: Wire) => Out | undefined,
    over: () => void,
  ): ReadableStream<Out> {
    const end = async (reason: unknown) => {
      over();
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
          this.#onAbort((reason) => void settleFailed(this.hold, end(reason)).then(() => fail(reason)));
        },
        pull: async (controller) => {
          try {
            for (;;) {
              const { value, done } = await steps.next();
              if (done) {
                this.parts.call.signal?.throwIfAborted();
                break;
              }
              const isLast = value instanceof Ending;
              const written = (isLast ? value.events : [value]).map(write).filter((out) => out !== undefined);
              for (const out of written) controller.enqueue(out);
              if (isLast)
                await steps.next(); // settles also if the program reads no further
              else if (written.length > 0) return;
            }
          } catch (error) {
            over();
            throw error;
          }
          over();
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
