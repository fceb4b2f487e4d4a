import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';

/** A call that the provider has received. */
export interface ProviderCall {
  readonly path: string;
  readonly body: Body;
  /** Words that it has sent. */
  sent: number;
  /** Whether the client has closed the connection before the end. */
  isAborted: boolean;
}

interface Body {
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly [field: string]: unknown;
}

type Event = Readonly<Record<string, unknown>>;

/** One API: its events and its whole response. */
interface Api {
  begin(body: Body, input: number): Event[];
  word(text: string): Event;
  end(text: string, usage: Usage, body: Body): (Event | '[DONE]')[];
  whole(text: string, usage: Usage): Event;
}

interface Usage {
  readonly input: number;
  readonly output: number;
}

const model = 'fake-1';

/**
 * Speaks the APIs of OpenAI (chat completions, responses) and Anthropic (messages), as streams and not. A token is a word. The last number in
 * the prompt is the number of words that it answers; without one it answers ten.
 */
export class FakeProvider {
  readonly calls: ProviderCall[] = [];
  /** Whether it says what was used. */
  hasUsage = true;
  /** Called with each call before it is answered. */
  onCall: (call: ProviderCall) => Promise<void> = async () => {};
  /** Answers with this status in place of a stream. */
  status = 200;
  /** Words after which it sends no more, and keeps the connection open. */
  stallsAfter = Number.POSITIVE_INFINITY;
  readonly #server: Server;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: Error) => response.destroy(error));
    });
  }

  static async start(): Promise<FakeProvider> {
    const provider = new FakeProvider();
    await new Promise<void>((resolve) => provider.#server.listen(0, '127.0.0.1', resolve));
    return provider;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    const stopped = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await stopped;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path } = new URL(request.url!, this.url);
    let text = '';
    for await (const chunk of request) text += chunk;
    const body: Body = text === '' ? {} : JSON.parse(text);
    const call: ProviderCall = { path, body, sent: 0, isAborted: false };
    this.calls.push(call);
    await this.onCall(call);
    response.once('close', () => {
      call.isAborted = !response.writableFinished;
    });
    const api = APIS[path.split('/').at(-1)!];
    if (api === undefined || this.status !== 200) {
      const error = { type: 'server_error', message: 'overloaded' };
      response.writeHead(api === undefined ? 404 : this.status, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify({ type: 'error', error }));
      return;
    }
    const prompt = JSON.stringify(body.messages ?? body.input ?? '');
    const words = Number(prompt.match(/\d+(?!.*\d)/)?.[0] ?? 10);
    const usage = { input: 20, output: words };
    if (body.stream !== true) {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      const whole = api.whole('word '.repeat(words), usage);
      response.end(JSON.stringify(this.hasUsage ? whole : { ...whole, usage: undefined }));
      return;
    }
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    for (const event of api.begin(body, usage.input)) write(response, event);
    for (; call.sent < words && !response.destroyed; call.sent += 1) {
      if (call.sent === this.stallsAfter) return;
      write(response, api.word('word '));
      await setImmediate();
    }
    if (response.destroyed) return;
    const end = api.end('word '.repeat(words), usage, body);
    for (const event of this.hasUsage ? end : end.flatMap(withoutUsage)) write(response, event);
    response.end();
  }
}

function write(response: ServerResponse, event: Event | '[DONE]'): void {
  const type = event === '[DONE]' || event.type === undefined ? '' : `event: ${event.type}\n`;
  response.write(`${type}data: ${event === '[DONE]' ? event : JSON.stringify(event)}\n\n`);
}

function withoutUsage(event: Event | '[DONE]'): (Event | '[DONE]')[] {
  if (event === '[DONE]') return [event];
  const { usage, response, ...others } = event;
  if (others.object === 'chat.completion.chunk' && usage !== undefined) return []; // a chunk for the usage alone
  return [{ ...others, ...(response ? { response: { ...response, usage: null } } : {}) }];
}

const chunk = (choices: object[], more: object = {}): Event => ({
  ...{ id: 'chat-1', object: 'chat.completion.chunk', created: 1_700_000_000, model, choices },
  ...more,
});
const chatUsage = ({ input, output }: Usage) => ({
  prompt_tokens: input,
  completion_tokens: output,
  total_tokens: input + output,
});

const chat: Api = {
  begin: () => [chunk([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])],
  word: (content) => chunk([{ index: 0, delta: { content }, finish_reason: null }]),
  end: (_text, usage, { stream_options }) => [
    chunk([{ index: 0, delta: {}, finish_reason: 'stop' }]),
    ...(stream_options?.include_usage ? [chunk([], { usage: chatUsage(usage) })] : []),
    '[DONE]',
  ],
  whole: (content, usage) => ({
    ...{ id: 'chat-1', object: 'chat.completion', created: 1_700_000_000, model },
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: chatUsage(usage),
  }),
};

const at = { item_id: 'item-1', output_index: 0, content_index: 0 };
const part = (text: string) => ({ type: 'output_text', text, annotations: [] });
const item = (status: string, content: object[]) => ({
  ...{ id: 'item-1', type: 'message', role: 'assistant', status, content },
});
const responseOf = (status: string, output: object[], usage: Usage | undefined) => ({
  ...{ id: 'response-1', object: 'response', created_at: 1_700_000_000, model, status, output },
  ...{ incomplete_details: null, error: null },
  usage: usage && {
    input_tokens: usage.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: usage.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.input + usage.output,
  },
});

const responses: Api = {
  begin: () => [
    { type: 'response.created', response: responseOf('in_progress', [], undefined) },
    { type: 'response.output_item.added', output_index: 0, item: item('in_progress', []) },
    { type: 'response.content_part.added', ...at, part: part('') },
  ],
  word: (delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] }),
  end: (text, usage) => [
    { type: 'response.output_text.done', ...at, text, logprobs: [] },
    { type: 'response.content_part.done', ...at, part: part(text) },
    { type: 'response.output_item.done', output_index: 0, item: item('completed', [part(text)]) },
    {
      type: 'response.completed',
      response: responseOf('completed', [item('completed', [part(text)])], usage),
    },
  ],
  whole: (text, usage) => responseOf('completed', [item('completed', [part(text)])], usage),
};

const message = (content: object[], usage: object) => ({
  ...{ id: 'message-1', type: 'message', role: 'assistant', model, content },
  ...{ stop_reason: null, stop_sequence: null, usage },
});

const messages: Api = {
  begin: (_body, input) => [
    { type: 'message_start', message: message([], { input_tokens: input, output_tokens: 1 }) },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'ping' },
  ],
  word: (text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
  end: (_text, { output }) => [
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  ],
  whole: (text, { input, output }) => ({
    ...message([{ type: 'text', text }], { input_tokens: input, output_tokens: output }),
    stop_reason: 'end_turn',
  }),
};

const APIS: Readonly<Record<string, Api>> = { completions: chat, responses, messages };
