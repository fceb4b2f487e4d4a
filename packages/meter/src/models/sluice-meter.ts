import type { Meter } from '../meter.js';
import { modelFigures, PartReader } from './language-model.js';
import { checkModelOptions, type ModelOptions } from './model-options.js';
import { promptOf, textOf, type Wire } from './reader.js';
import { beginSpend } from './spend.js';

/** What the middleware reads of a call. */
interface Params {
  readonly prompt: unknown;
  readonly tools?: unknown;
  readonly maxOutputTokens?: number | undefined;
  readonly abortSignal?: AbortSignal | undefined;
}

/** Middleware for `wrapLanguageModel` of the AI SDK, version 5 or later. */
export interface ModelMiddleware {
  readonly specificationVersion: 'v3';
  wrapGenerate<
    P extends Params,
    R extends {
      readonly usage: object;
      readonly content: unknown;
      readonly providerMetadata?: object | undefined;
    },
  >(call: {
    readonly params: P;
    readonly model: { readonly modelId: string; doGenerate(params: P): PromiseLike<R> };
  }): Promise<R>;
  wrapStream<P extends Params, R extends { readonly stream: ReadableStream<Wire> }>(call: {
    readonly params: P;
    readonly model: {
      readonly modelId: string;
      readonly specificationVersion?: string;
      doStream(params: P): PromiseLike<R>;
    };
  }): Promise<R>;
}

/**
 * Middleware of the AI SDK: a budget pays for the calls of the model, and a stream ends with it.
 * @throws TypeError, RangeError naming the invalid option
 */
export function sluiceMeter<Who, Axes extends string>(
  budget: Meter<Who, Axes>,
  options: ModelOptions<Who, Axes>,
): ModelMiddleware {
  const setting = checkModelOptions('sluiceMeter', budget, options);
  const begin = (
    { prompt, tools, maxOutputTokens: most, abortSignal: signal }: Params,
    model: string,
    isStream: boolean,
  ) => {
    return beginSpend(setting, { model, prompt: promptOf(prompt, tools), most, isStream, signal });
  };
  return {
    specificationVersion: 'v3',
    async wrapGenerate({ params, model }) {
      const spend = await begin(params, model.modelId, false);
      const result = await spend.send((abortSignal) => model.doGenerate({ ...params, abortSignal }));
      await spend.answered(modelFigures(result.usage, result.providerMetadata), () => textOf(result.content));
      return result;
    },
    async wrapStream({ params, model }) {
      const spend = await begin(params, model.modelId, true);
      const result = await spend.send((abortSignal) => model.doStream({ ...params, abortSignal }));
      const parts = result.stream as unknown as AsyncIterable<Wire>;
      return {
        ...result,
        stream: spend.stream(parts, new PartReader(model.specificationVersion), (part) => part),
      };
    },
  };
}
