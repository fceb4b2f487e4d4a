import type { BudgetStop, Figures, Reader, Usage, Wire } from './reader.js';

export const modelFigures = (usage: Wire): Figures => ({
  input: usage?.inputTokens?.total ?? undefined,
  output: usage?.outputTokens?.total ?? undefined,
  cacheRead: usage?.inputTokens?.cacheRead ?? undefined,
  cacheWrite: usage?.inputTokens?.cacheWrite ?? undefined,
});

/** Parts of a stream of the AI SDK. */
export class PartReader implements Reader {
  figures: Figures = {};
  /** What has not ended, by its id. */
  readonly #open = new Map<string, string>();

  read({ type, id, delta, usage }: Wire): string {
    if (type === 'finish') this.figures = modelFigures(usage);
    const [, kind, moment] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(type) ?? [];
    if (moment === 'start') this.#open.set(id, kind!);
    if (moment === 'end') this.#open.delete(id);
    return moment === 'delta' ? delta : '';
  }

  end(sluice: BudgetStop, { input, output, cacheRead, cacheWrite }: Usage): Wire[] {
    const noCache = input - cacheRead - cacheWrite;
    return [
      ...[...this.#open].map(([id, kind]) => ({ type: `${kind}-end`, id })),
      {
        type: 'finish',
        finishReason: { unified: 'length', raw: 'sluice_budget' },
        usage: {
          inputTokens: { total: input, noCache, cacheRead, cacheWrite },
          outputTokens: { total: output, text: undefined, reasoning: undefined },
        },
        providerMetadata: { sluice },
      },
    ];
  }
}
