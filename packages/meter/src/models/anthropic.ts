import { type BudgetStop, type Figures, type Reader, textOf, type Usage, type Wire } from './reader.js';

/** Anthropic counts the tokens of its cache apart. */
export const messageFigures = (usage: Wire): Figures => {
  const { input_tokens, output_tokens } = usage ?? {};
  const cacheRead = usage?.cache_read_input_tokens ?? 0;
  const cacheWrite = usage?.cache_creation_input_tokens ?? 0;
  const input = input_tokens === undefined ? undefined : input_tokens + cacheRead + cacheWrite;
  return { input, output: output_tokens, cacheRead, cacheWrite };
};

/** Events of `/messages` of Anthropic. */
export class MessageReader implements Reader {
  figures: Figures = {};
  /** Blocks that have not ended. */
  readonly #open = new Set<number>();

  read(event: Wire): string {
    switch (event.type) {
      case 'message_start':
        this.figures = { ...messageFigures(event.message?.usage), output: undefined };
        break;
      case 'content_block_start':
        this.#open.add(event.index);
        break;
      case 'content_block_stop':
        this.#open.delete(event.index);
        break;
      case 'message_delta':
        this.figures = { ...this.figures, output: event.usage?.output_tokens };
        break;
      case 'content_block_delta':
        return textOf(event.delta);
    }
    return '';
  }

  end(sluice: BudgetStop, { output }: Usage): Wire[] {
    return [
      ...[...this.#open].map((index) => ({ type: 'content_block_stop', index })),
      {
        type: 'message_delta',
        delta: { stop_reason: 'max_tokens', stop_sequence: null },
        usage: { output_tokens: output },
        sluice,
      },
      { type: 'message_stop' },
    ];
  }
}
