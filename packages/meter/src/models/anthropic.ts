import { type BudgetStop, type Figures, type Reader, textOf, type Usage, type Wire } from './reader.js';

/** Anthropic counts the tokens of its cache apart. */
export const messageFigures = (usage: Wire): Figures => {
  const cacheRead = usage?.cache_read_input_tokens ?? 0;
  const cacheWrite = usage?.cache_creation_input_tokens ?? 0;
  const uncached = usage?.input_tokens ?? undefined;
  const input = uncached === undefined ? undefined : uncached + cacheRead + cacheWrite;
  return { input, output: usage?.output_tokens ?? undefined, cacheRead, cacheWrite };
};

/** Events of `/messages` of Anthropic. */
export class MessageReader implements Reader {
  isComplete = false;
  #usage: Wire = {};
  /** Blocks that have not ended. */
  readonly #open = new Set<number>();

  get figures(): Figures {
    return messageFigures(this.#usage);
  }

  read(event: Wire): string {
    switch (event.type) {
      case 'message_start':
        this.#usage = { ...event.message?.usage, output_tokens: undefined };
        break;
      case 'content_block_start':
        this.#open.add(event.index);
        break;
      case 'content_block_stop':
        this.#open.delete(event.index);
        break;
      case 'message_delta':
        if (event.delta?.stop_reason) this.isComplete = true;
        for (const [name, total] of Object.entries(event.usage ?? {}))
          this.#usage[name] = total ?? this.#usage[name];
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
