import type { BudgetStop, Figures, Reader, Usage, Wire } from './reader.js';

export const responsesFigures = (usage: Wire): Figures => ({
  input: usage?.input_tokens ?? undefined,
  output: usage?.output_tokens ?? undefined,
  cacheRead: usage?.input_tokens_details?.cached_tokens ?? undefined,
});

/** Events of `/responses` of OpenAI. */
export class ResponsesReader implements Reader {
  figures: Figures = {};
  isComplete = false;
  #response: Wire = {};
  #sequence = 0;
  readonly #items: Wire[] = [];
  /** Places of items that have not ended. */
  readonly #open = new Set<number>();

  read(event: Wire): string {
    const { type, output_index: place, content_index: part, delta, response } = event;
    this.#sequence = event.sequence_number ?? this.#sequence + 1;
    if (response) this.#response = response;
    if (/^response\.(?:completed|incomplete|failed)$/.test(type)) this.isComplete = true;
    if (response?.usage) this.figures = responsesFigures(response.usage);
    const item = this.#items[place];
    if (type === 'response.output_item.added') {
      this.#items[place] = structuredClone(event.item);
      this.#open.add(place);
    } else if (type === 'response.output_item.done') {
      this.#items[place] = event.item;
      this.#open.delete(place);
    } else if (type === 'response.content_part.added' && item) {
      item.content ??= []; // other servers may add an item without it
      item.content[part] = structuredClone(event.part);
    } else if (type === 'response.output_text.delta' && item?.content?.[part]) {
      item.content[part].text += delta;
    } else if (type === 'response.function_call_arguments.delta' && item) {
      item.arguments += delta;
    }
    const isText = typeof delta === 'string' && /^response\.(?!audio).*\.delta$/.test(type);
    return isText ? delta : '';
  }

  end(sluice: BudgetStop, { input, output, cacheRead }: Usage): Wire[] {
    const open = [...this.#open].map((place) => [place, this.#items[place]] as const);
    for (const [, item] of open) item.status = 'incomplete';
    const response = {
      ...this.#response,
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
      output: this.#items,
      usage: {
        input_tokens: input,
        input_tokens_details: { cached_tokens: cacheRead },
        output_tokens: output,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: input + output,
      },
    };
    // A call of a function that is not whole must not look as if it were, so only messages end.
    const messages = open.filter(([, { type }]) => type === 'message');
    const events = [
      ...messages.flatMap(([place, item]) => endOfMessage(place, item)),
      { type: 'response.incomplete', response, sluice },
    ];
    return events.map((event) => {
      this.#sequence += 1;
      return { ...event, sequence_number: this.#sequence };
    });
  }
}

function endOfMessage(output_index: number, item: Wire): Wire[] {
  const at = { item_id: item.id, output_index };
  const parts = (item.content ?? []).flatMap((part: Wire, content_index: number) => [
    ...(part.type === 'output_text'
      ? [{ type: 'response.output_text.done', ...at, content_index, text: part.text, logprobs: [] }]
      : []),
    { type: 'response.content_part.done', ...at, content_index, part },
  ]);
  return [...parts, { type: 'response.output_item.done', output_index, item }];
}
