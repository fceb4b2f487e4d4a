import { isRecord } from '@sluice/core/internal';
import { type BudgetStop, type Figures, type Reader, textOf, type Usage, type Wire } from './reader.js';

export const chatFigures = (usage: Wire): Figures => ({
  input: usage?.prompt_tokens ?? undefined,
  output: usage?.completion_tokens ?? undefined,
  cacheRead: usage?.prompt_tokens_details?.cached_tokens ?? undefined,
});

/** Chunks of `/chat/completions` of OpenAI. */
export class ChatReader implements Reader {
  figures: Figures = {};
  #common: Wire = { object: 'chat.completion.chunk' };
  /** Choices that have not ended. */
  readonly #open = new Set<number>();

  #hasEnded = false;

  /** @param wantsUsage whether the program has requested a chunk with the usage */
  constructor(readonly wantsUsage: boolean) {}

  get isComplete(): boolean {
    return this.#hasEnded && this.#open.size === 0;
  }

  read({ choices, usage, ...common }: Wire): string {
    this.#common = common;
    if (usage) this.figures = chatFigures(usage);
    let text = '';
    // A server of another make may send anything here.
    const listed: Wire[] = Array.isArray(choices) ? choices.filter(isRecord) : [];
    for (const { index, delta, finish_reason } of listed) {
      if (finish_reason) {
        this.#hasEnded = true;
        this.#open.delete(index);
      } else this.#open.add(index);
      text += textOf(delta);
    }
    return text;
  }

  hides({ choices, usage }: Wire): boolean {
    return !this.wantsUsage && usage && choices?.length === 0;
  }

  end(sluice: BudgetStop, { input, output }: Usage): Wire[] {
    // Programs read `choices[0]` of each chunk, also of one that came before any text.
    const open = this.#open.size === 0 ? [0] : [...this.#open];
    const choices = open.map((index) => ({
      index,
      delta: {},
      logprobs: null,
      finish_reason: 'length',
    }));
    const usage = { prompt_tokens: input, completion_tokens: output, total_tokens: input + output };
    return [
      { ...this.#common, choices, sluice },
      ...(this.wantsUsage ? [{ ...this.#common, choices: [], usage }] : []),
      '[DONE]',
    ];
  }
}
