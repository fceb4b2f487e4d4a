import { isSluiceError } from '@sluice/core';
import { checkFunction, isRecord } from '@sluice/core/internal';
import { isBudgetExceededError } from '../errors.js';
import { budgetHeaders } from '../headers.js';
import type { Meter } from '../meter.js';
import { MessageReader, messageFigures } from './anthropic.js';
import { checkModelOptions, type Fetch, type ModelOptions } from './model-options.js';
import { ChatReader, chatFigures } from './openai-chat.js';
import { ResponsesReader, responsesFigures } from './openai-responses.js';
import { type Figures, promptOf, type Reader, stopOf, textOf, type Wire } from './reader.js';
import { beginSpend, type Spend } from './spend.js';
import { type Frame, frameReader, framesOf, parseJson } from './sse.js';

/** The options of `meteredFetch`. */
export interface MeteredFetchOptions<Who, Axes extends string> extends ModelOptions<Who, Axes> {
  /** Sends the requests. Default: the `fetch` of `upstream`, or else the global one. */
  readonly fetch?: Fetch | undefined;
}

/** For the path of an address that only `upstream` completes. */
const ANY_ORIGIN = 'http://origin';

/** What came back. */
interface Exchange {
  readonly response: Response;
  /** The text of a whole answer. */
  readonly answer?: string;
  /** Why a whole answer broke off. */
  readonly failure?: Error;
}

/** One API of a provider. */
interface Protocol {
  readonly path: RegExp;
  readonly figures: (usage: Wire) => Figures;
  readonly reader: (body: Wire) => Reader;
  /** The body of a stream whose events say what was used. */
  readonly withUsage?: (body: Wire) => Wire;
}

const PROTOCOLS: readonly Protocol[] = [
  {
    path: /\/chat\/completions$/,
    figures: chatFigures,
    reader: (body) => new ChatReader(body.stream_options?.include_usage === true),
    withUsage: (body) => ({ ...body, stream_options: { ...body.stream_options, include_usage: true } }),
  },
  { path: /\/responses$/, figures: responsesFigures, reader: () => new ResponsesReader() },
  { path: /(?<!\/threads\/[^/]+)\/messages$/, figures: messageFigures, reader: () => new MessageReader() },
];

/** Calls of models whose answers no reader knows: of Bedrock, Vertex AI and Gemini, and others of OpenAI and Anthropic. */
const UNKNOWN_CALL =
  /\/model\/[^/]+\/(?:invoke|converse)[^/]*$|:(?:rawPredict|streamRawPredict|generateContent|streamGenerateContent)$|\/responses\/compact$|\/threads(?:\/[^/]+)?\/runs$|\/runs\/[^/]+\/submit_tool_outputs$|\/(?:completions|complete)$/;

/**
 * A client of OpenAI or Anthropic whose calls a budget pays for: a copy, so make one for each caller.
 * @throws TypeError, RangeError naming the invalid option
 */
export function meterClient<
  Client extends { withOptions(options: { fetch: Fetch }): Client },
  Who,
  Axes extends string,
>(client: Client, budget: Meter<Who, Axes>, options: ModelOptions<Who, Axes>): Client {
  if (typeof client?.withOptions !== 'function')
    throw new TypeError('meterClient: client must be a client of openai or @anthropic-ai/sdk');
  checkModelOptions('meterClient', budget, options);
  // Both clients keep the function that they send with as a private field of this name.
  const { fetch } = client as unknown as { fetch?: Fetch };
  return client.withOptions({
    fetch: meteredFetch(budget, { ...options, fetch: options.upstream?.fetch ?? fetch }),
  });
}

/**
 * A `fetch` for calls of OpenAI's and Anthropic's APIs and others that speak the same, paid by a budget. Calls of models in other APIs are refused.
 * Other requests pass.
 * @throws TypeError, RangeError naming the invalid option
 */
export function meteredFetch<Who, Axes extends string>(
  budget: Meter<Who, Axes>,
  options: MeteredFetchOptions<Who, Axes>,
): Fetch {
  const setting = checkModelOptions('meteredFetch', budget, options, ['fetch']);
  const { upstream, fetch: send = upstream?.fetch ?? globalThis.fetch } = options;
  checkFunction('meteredFetch: fetch', send);
  return async (input, init) => {
    const request = input instanceof Request ? input : undefined;
    const { pathname } = new URL(request?.url ?? String(input), ANY_ORIGIN);
    const paths = pathsOf(pathname);
    const protocol = PROTOCOLS.find(({ path }) => paths.some((one) => path.test(one)));
    const method = init?.method ?? request?.method ?? 'GET';
    if (method.toUpperCase() !== 'POST') return send(input, init);
    if (protocol === undefined) {
      if (!paths.some((one) => UNKNOWN_CALL.test(one))) return send(input, init);
      const remedy = 'Call chat completions, responses or messages, or use sluiceMeter with the AI SDK';
      return refusal(new TypeError(`meteredFetch: a budget cannot count a call of ${pathname}. ${remedy}`));
    }
    const text = init?.body ?? (await request?.clone().text());
    const parsed = typeof text === 'string' ? parseJson(text) : undefined;
    const body: Wire = isRecord(parsed) ? parsed : undefined;
    if (body === undefined)
      return refusal(new TypeError(`meteredFetch: the body of ${pathname} must be a JSON object, as a text`));

    let spend: Spend<Axes>;
    try {
      const { model, messages, system, instructions, input: items, tools, stream } = body;
      const prompt = promptOf([system, instructions, messages, items], tools);
      const signal = init?.signal ?? request?.signal;
      spend = await beginSpend(setting, {
        model,
        prompt,
        most: mostOf(body),
        isStream: stream === true,
        signal,
      });
    } catch (error) {
      return refusal(error as Error);
    }
    const exchange = async (signal: AbortSignal): Promise<Exchange> => {
      const sent = body.stream === true && protocol.withUsage ? protocol.withUsage(body) : undefined;
      const changed = sent && {
        body: JSON.stringify(sent),
        headers: withoutLength(init?.headers ?? request?.headers),
      };
      const response = await send(input, { ...init, ...changed, signal });
      if (!response.ok || isStreamed(response, body)) return { response };
      try {
        return { response, answer: await response.clone().text() };
      } catch (failure) {
        if (signal.aborted) throw failure;
        return { response, failure: failure as Error };
      }
    };
    let exchanged: Exchange;
    try {
      exchanged = await spend.send(exchange);
    } catch (error) {
      if (isSluiceError(error)) return refusal(error); // the limits of `upstream`: sending it again would not help
      throw error;
    }
    const { response, answer, failure } = exchanged;
    try {
      if (failure !== undefined) {
        await spend.brokeOff();
        const message = `meteredFetch: the answer of ${pathname} broke off: ${failure.message}`;
        return refusal(Object.assign(new Error(message, { cause: failure }), { status: 502 }));
      }
      if (!response.ok || response.body === null) await spend.refused();
      else if (answer === undefined) return streamed(response, spend, protocol.reader(body));
      else await answered(spend, protocol, answer);
      return response;
    } catch (error) {
      return refusal(error as Error);
    }
  };
}

/** A path as servers may read it: they decode it, and answer `/responses/` as `/responses`. */
function pathsOf(pathname: string): string[] {
  let decoded = pathname;
  try {
    decoded = decodeURIComponent(pathname);
  } catch {} // not every server refuses it
  return [pathname, decoded].map((path) => path.replace(/\/+$/, ''));
}

/** A stream may come without its type, and a provider may answer with a whole answer where a stream was requested. */
function isStreamed({ headers }: Response, { stream }: Wire): boolean {
  const type = headers.get('content-type') ?? '';
  return type.startsWith('text/event-stream') || (stream === true && !type.startsWith('application/json'));
}

/** The most output tokens of a request. */
function mostOf({ max_completion_tokens, max_output_tokens, max_tokens, n }: Wire): number | undefined {
  const most = max_completion_tokens ?? max_output_tokens ?? max_tokens;
  return typeof most === 'number' ? most * (n ?? 1) : undefined;
}

function withoutLength(given: RequestInit['headers']): Headers {
  const headers = new Headers(given);
  headers.delete('content-length');
  return headers;
}

async function answered(spend: Spend<string>, { figures }: Protocol, answer: string): Promise<void> {
  const body = parseJson(answer);
  const content = body?.choices ?? body?.output ?? body?.content;
  await spend.answered(figures(body?.usage), () => (content === undefined ? undefined : textOf(content)));
}

function streamed(
  { body, status, statusText, headers }: Response,
  spend: Spend<string>,
  reader: Reader,
): Response {
  const encoder = new TextEncoder();
  const frames = framesOf(body as unknown as AsyncIterable<Uint8Array>);
  const stream = spend.stream(frames, frameReader(reader), ({ text }: Frame) => encoder.encode(text));
  const own = withoutLength(headers);
  own.delete('content-encoding'); // `fetch` has decoded it
  return new Response(stream, { status, statusText, headers: own });
}

/**
 * A response in place of the provider's, with the error in the form that the clients read. A rejected `fetch` would be sent again by them, and a
 * call that was answered but not settled paid twice.
 */
function refusal(error: Error & { status?: number; code?: string; headers?: object }): Response {
  const { status = 500, code = error.name, message } = error;
  const headers = isBudgetExceededError(error) ? budgetHeaders(error) : error.headers;
  const type = status === 429 ? 'rate_limit_error' : 'api_error';
  const sluice = isBudgetExceededError(error) ? stopOf(error) : undefined;
  return Response.json(
    { type: 'error', error: { type, code, message, param: null, sluice } },
    { status, headers: { ...headers, 'x-should-retry': 'false' } },
  );
}
