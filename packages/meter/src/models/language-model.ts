import { isRecord } from '@sluice/core/internal';
import type { BudgetStop, Figures, Reader, Usage, Wire } from './reader.js';

/** The figures of a whole answer, or of the `finish` part of a stream. @param providerMetadata beside the usage */
export function modelFigures(usage: Wire, providerMetadata?: Wire): Figures {
  const { inputTokens: input, outputTokens: output, cachedInputTokens } = usage ?? {};
  if (!isRecord(input) && !isRecord(output))
    return flatFigures(input, output, cachedInputTokens, providerMetadata);
  return {
    input: input?.total ?? undefined,
    output: output?.total ?? undefined,
    cacheRead: input?.cacheRead ?? undefined,
    cacheWrite: input?.cacheWrite ?? undefined,
  };
}

/** Of version 5, where Anthropic's tokens of the cache are no part of the input. */
function flatFigures(input: Wire, output: Wire, cached: Wire, { anthropic }: Wire = {}): Figures {
  const cacheRead: number | undefined = cached ?? undefined;
  const cacheWrite: number | undefined = anthropic?.cacheCreationInputTokens ?? undefined;
  const apart = anthropic === undefined ? 0 : (cacheRead ?? 0) + (cacheWrite ?? 0);
  return {
    input: input == null ? undefined : input + apart,
    output: output ?? undefined,
    cacheRead,
    cacheWrite,
  };
}

/** Parts of a stream of the AI SDK. */
export class PartReader implements Reader {
  figures: Figures = {};
  isComplete = false;
  /** What has not ended, by its id. */
  readonly #open = new Map<string, string>();

  /** @param version of the model's specification: `v2` in version 5 of the SDK, `v3` in 6, `v4` in 7 */
  constructor(readonly version: string | undefined) {}

  read({ type, id, delta, usage, providerMetadata }: Wire): string {
    if (type === 'finish') {
      this.figures = modelFigures(usage, providerMetadata);
      this.isComplete = true;
    }
    const [, kind, moment] = /^(text|reasoning|tool-input)-(start|delta|end)$/.exec(type) ?? [];
    if (moment === 'start') this.#open.set(id, kind!);
    if (moment === 'end') this.#open.delete(id);
    return moment === 'delta' ? delta : '';
  }

  end(sluice: BudgetStop, { input, output, cacheRead, cacheWrite }: Usage): Wire[] {
    const noCache = input - cacheRead - cacheWrite;
    const isFlat = this.version === 'v2';
    const ends = [...this.#open].map(([id, kind]) => ({ type: `${kind}-end`, id }));
    return [
      ...ends,
      {
        type: 'finish',
        finishReason: isFlat ? 'length' : { unified: 'length', raw: 'sluice_budget' },
        usage: isFlat
          ? {
              ...{ inputTokens: input, outputTokens: output, totalTokens: input + output },
              cachedInputTokens: cacheRead,
            }
          : {
              inputTokens: { total: input, noCache, cacheRead, cacheWrite },
              outputTokens: { total: output, text: undefined, reasoning: undefined },
            },
        providerMetadata: { sluice },
      },
    ];
  }
}
