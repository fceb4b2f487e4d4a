import Anthropic from '@anthropic-ai/sdk';
import {
  concurrency,
  fixedWindow,
  ManualClock,
  memoryStore,
  type Store,
  StoreUnavailableError,
} from '@sluice/core';
import OpenAI from 'openai';
import { FakeProvider } from '../../../../examples/chat/src/fake-provider.js';
import { tokensOf } from '../../../../examples/chat/src/tokens.js';
import { like } from '../../../../tests/support/like.js';
import { warned } from '../../../../tests/support/warned.js';
import { type LimitedService, meter, meterClient, meteredFetch, sluiceMeter } from '../index.js';
import { MessageReader } from './anthropic.js';
import { modelFigures, PartReader } from './language-model.js';
import { ChatReader, chatFigures } from './openai-chat.js';
import { ResponsesReader, responsesFigures } from './openai-responses.js';
import { textOf } from './reader.js';
import { type Frame, framesOf } from './sse.js';

let provider: FakeProvider;
const store = memoryStore();
beforeEach(async () => {
  provider = await FakeProvider.start();
});
afterEach(() => provider.stop());
afterAll(() => store.close());

let meters = 0;
function begin(own: Store = store) {
  meters += 1;
  const axes = { output: fixedWindow({ limit: 300, window: '1h' }) };
  const budget = meter({ name: `clients-${meters}`, store: own, axes });
  const amounts = ({ output }: { output: number }) => ({ output });
  const options = { who: 'ann', count: tokensOf, step: 100, amounts };
  const used = async () => 300 - (await budget.status('ann')).left.output!;
  const openai = meterClient(new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` }), budget, options);
  const anthropic = meterClient(new Anthropic({ apiKey: 'none', baseURL: provider.url }), budget, options);
  return { budget, options, used, openai, anthropic };
}

/** A store for which a call fails. */
const failingAt = (fails: (operation: string) => boolean): Store =>
  like(store, {
    decide: (call) => {
      if (fails(call.operation)) throw new StoreUnavailableError('out');
      return store.decide(call);
    },
  });

const user = (content: string) => [{ role: 'user' as const, content }];
const chat = (words: number) => ({ model: 'fake-1', messages: user(`Say ${words} words`) });
const message = (words: number) => ({ ...chat(words), max_tokens: 5_000 });
const response = (words: number) => ({ model: 'fake-1', input: `Say ${words} words` });

describe('helpers of the clients see a stream that ends with the budget as one that reached its most tokens:', () => {
  test('chat.completions.stream', async () => {
    const stream = begin().openai.chat.completions.stream(chat(5_000));
    const { choices } = await stream.finalChatCompletion();
    expect([choices[0]!.finish_reason, tokensOf(choices[0]!.message.content!)]).toEqual(['length', 300]);
  });

  test('responses.stream', async () => {
    const { status, output_text, usage } = await begin()
      .openai.responses.stream(response(5_000))
      .finalResponse();
    expect([status, tokensOf(output_text), usage!.output_tokens]).toEqual(['incomplete', 300, 300]);
  });

  test('messages.stream', async () => {
    const final = await begin().anthropic.messages.stream(message(5_000)).finalMessage();
    expect([final.stop_reason, final.usage.output_tokens]).toEqual(['max_tokens', 300]);
    expect(final.content).toMatchObject([{ type: 'text', text: 'word '.repeat(300) }]);
  });
});

test('a program that requests the usage of a chat stream gets it, also when the budget has ended', async () => {
  const usages = async (words: number) => {
    const { openai } = begin();
    const stream = await openai.chat.completions.create({
      ...chat(words),
      stream: true,
      stream_options: { include_usage: true },
    });
    const found = [];
    for await (const { usage, choices } of stream)
      if (usage) found.push([choices.length, usage.total_tokens]);
    return found;
  };
  expect(await usages(10)).toEqual([[0, 30]]);
  expect(await usages(5_000)).toEqual([[0, 3 + 300]]);
});

test('a stalled stream that the program aborts is aborted at the provider, and settled', async () => {
  provider.stallsAfter = 5;
  const { openai, used } = begin();
  const gone = new AbortController();
  const stream = await openai.chat.completions.create({ ...chat(50), stream: true }, { signal: gone.signal });
  let text = '';
  for await (const { choices } of stream) {
    text += choices[0]!.delta.content;
    if (tokensOf(text) === 5) setImmediate(() => gone.abort());
  }
  while ((await used()) !== 5) await new Promise(setImmediate);
  while (!provider.calls[0]!.isAborted) await new Promise(setImmediate);
});

test('a stream that the program aborts and never reads is settled', async () => {
  const { openai, used } = begin();
  const stream = await openai.chat.completions.create({ ...chat(5_000), stream: true });
  expect(await used()).toBe(100);
  stream.controller.abort();
  while ((await used()) !== 0) await new Promise(setImmediate);
});

test('an aborted call without an answer counts its prompt', async () => {
  provider.stallsAfter = 0;
  const { budget, options, used } = begin();
  const gone = new AbortController();
  const send: typeof fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
      gone.abort();
    });
  const amounts = ({ input, output }: { input: number; output: number }) => ({ output: input + output });
  const metered = meteredFetch(budget, { ...options, amounts, fetch: send });
  const body = JSON.stringify(chat(5));
  const call = metered(`${provider.url}/v1/chat/completions`, { method: 'POST', body, signal: gone.signal });
  await expect(call).rejects.toThrow(/aborted/);
  expect(await used()).toBe(3);
});

test.each([
  ['while it waits for its service counts nothing', { cost: () => 1 }, [], 0],
  ['while it waits for a service that knows its cost counts nothing', {}, [], 0],
  ['after its service has sent it counts its prompt', { cost: () => 1 }, [true], 3],
  ['while it waits for its second attempt counts nothing', { cost: () => 1 }, [true, false], 0],
  ['in its second attempt counts its prompt', { cost: () => 1 }, [true, false, true], 3],
])('a call that is aborted %s', async (_, more, attempts, counted) => {
  const { budget, options, used } = begin();
  const gone = new AbortController();
  const send: typeof fetch = (_input, init) =>
    new Promise((_resolve, reject) => {
      init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
      setImmediate(() => gone.abort());
    });
  const withCost: LimitedService['withCost'] = (_cost, _actual, work, sent) => {
    for (const isSent of attempts) sent?.(isSent);
    return work();
  };
  const amounts = ({ input, output }: { input: number; output: number }) => ({ output: input + output });
  const upstream = { fetch: send, withCost };
  const metered = meteredFetch(budget, { ...options, amounts, upstream, ...more });
  const body = JSON.stringify(chat(5));
  const call = metered('http://x/v1/chat/completions', { method: 'POST', body, signal: gone.signal });
  await expect(call).rejects.toThrow(/aborted/);
  expect(await used()).toBe(counted);
});

test('a call that was aborted before it is sent counts nothing', async () => {
  const { budget, options, used } = begin();
  const amounts = ({ input, output }: { input: number; output: number }) => ({ output: input + output });
  const metered = meteredFetch(budget, { ...options, amounts });
  const body = JSON.stringify(chat(5));
  const signal = AbortSignal.abort();
  const call = metered(`${provider.url}/v1/chat/completions`, { method: 'POST', body, signal });
  await expect(call).rejects.toThrow(/aborted/);
  expect([await used(), provider.calls]).toEqual([0, []]);
});

test('a connection that fails counts nothing, and is tried again by the client', async () => {
  const { budget, options, used } = begin();
  let tries = 0;
  const send: typeof fetch = async (input, init) => {
    tries += 1;
    if (tries === 1) throw new TypeError('fetch failed');
    return fetch(input, init);
  };
  const client = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1`, fetch: send });
  await meterClient(client, budget, options).chat.completions.create(chat(7));
  expect([tries, await used()]).toEqual([2, 7]);
});

/** A fetch whose response has this body, of pieces after which it may break off. */
const answering =
  (pieces: readonly string[], breaksOff = false, headers = {}): typeof fetch =>
  async () => {
    const left = [...pieces];
    const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      const piece = left.shift();
      if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece));
      else if (breaksOff) controller.error(new TypeError('terminated'));
      else controller.close();
    };
    return new Response(new ReadableStream({ pull }), { headers });
  };

const post = (send: typeof fetch, begun: ReturnType<typeof begin>, body: object, path = 'chat/completions') =>
  meteredFetch(begun.budget, { ...begun.options, fetch: send })(`http://x/v1/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });

test.each([
  ['breaks off', answering(['{"choices": ['], true), 502, /broke off: terminated/],
  ['is not JSON', answering(['<html>']), 200, /^<html>$/],
  ['has no known field', answering(['{}']), 200, /^{}$/],
])('a whole answer that %s counts what was held, and is not sent again', async (_, send, status, text) => {
  const begun = begin();
  const answer = await post(send, begun, { ...chat(7), max_tokens: 30 });
  expect([answer.status, await answer.text()]).toEqual([status, expect.stringMatching(text)]);
  expect(answer.headers.get('x-should-retry')).toBe(status === 200 ? null : 'false');
  expect(await begun.used()).toBe(30);
});

test.each([-1, 100.5, Number.NaN])(
  'a stream with max_tokens %p, which some servers take as no limit, is metered in steps',
  async (max_tokens) => {
    const { openai, used } = begin();
    let words = 0;
    for await (const { choices } of await openai.chat.completions.create({
      ...chat(150),
      max_tokens,
      stream: true,
    }))
      words += tokensOf(choices[0]?.delta.content ?? '');
    expect([words, await used()]).toEqual([150, 150]);
  },
);

test('a stream that ends at its max_tokens is whole, and holds no more than those', async () => {
  const { budget, openai } = begin();
  const other = await budget.hold('ann', { output: 180 }); // 120 of 300 are left
  const reasons: unknown[] = [];
  for await (const { choices } of await openai.chat.completions.create({
    ...chat(120),
    max_tokens: 120,
    stream: true,
  }))
    if (choices[0]?.finish_reason) reasons.push(choices[0].finish_reason);
  expect(reasons).toEqual(['stop']);
  expect((await budget.status('ann')).left).toEqual({ output: 0 });
  await other.cancel();
});

test('a whole answer that the program aborts counts its prompt, and rejects as aborted', async () => {
  const { budget, options, used } = begin();
  const gone = new AbortController();
  const send: typeof fetch = async (_input, init) => {
    const start = (controller: ReadableStreamDefaultController) =>
      init!.signal!.addEventListener('abort', () => controller.error(init!.signal!.reason));
    setImmediate(() => gone.abort());
    return new Response(new ReadableStream({ start }));
  };
  const amounts = ({ input, output }: { input: number; output: number }) => ({ output: input + output });
  const call = meteredFetch(budget, { ...options, amounts, fetch: send })('http://x/v1/responses', {
    method: 'POST',
    body: JSON.stringify(response(5)),
    signal: gone.signal,
  });
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  expect(await used()).toBe(3);
});

test('a stream without its type is counted while it arrives, and a whole answer in its place by its text', async () => {
  const piece = (content: string) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
  const begun = begin();
  const stream = await post(answering([piece('one two '), piece('three')]), begun, {
    ...chat(7),
    stream: true,
  });
  expect(await stream.text()).toBe(piece('one two ') + piece('three'));
  expect(await begun.used()).toBe(3);
  const text = JSON.stringify({ choices: [{ message: { content: 'four five' } }] });
  const send = answering([text], false, { 'content-type': 'application/json' });
  const whole = await post(send, begun, { ...chat(7), stream: true });
  expect(await whole.text()).toBe(text);
  expect(await begun.used()).toBe(5);
});

test('a chat stream whose last text reaches the budget is whole, and no budget has ended it', async () => {
  const begun = begin();
  const content = 'word '.repeat(300);
  const last = { choices: [{ index: 0, delta: { content }, finish_reason: 'stop' }] };
  const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 301 } };
  const text = [last, usage].map((event) => `data: ${JSON.stringify(event)}\n\n`);
  const send = answering(text, false, { 'content-type': 'text/event-stream' });
  const answer = await post(send, begun, { ...chat(7), stream: true });
  expect(await answer.text()).toBe(text[0]);
  expect(await begun.used()).toBe(301);
});

/** The streams of each protocol: text, then an event that says that the model has finished, with 900 output tokens. */
const FINISHED: readonly [name: string, path: string, text: object, finish: object][] = [
  [
    'chat completions',
    'chat/completions',
    { choices: [{ index: 0, delta: { content: 'one two' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: { completion_tokens: 900 } },
  ],
  [
    'responses',
    'responses',
    { type: 'response.output_text.delta', delta: 'one two' },
    { type: 'response.completed', response: { usage: { output_tokens: 900 } } },
  ],
  [
    'messages',
    'messages',
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'one two' } },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 900 } },
  ],
];
const frameOf = (event: object) => `data: ${JSON.stringify(event)}\n\n`;

describe('figures that have arrived with the end of an answer are settled', () => {
  test.each(FINISHED)(
    'when the program leaves before the end of the stream (%s)',
    async (_, path, ...events) => {
      const begun = begin();
      const pieces = [...events.map(frameOf), ': ping\n\n'];
      const send = answering(pieces, false, { 'content-type': 'text/event-stream' });
      const { body } = await post(send, begun, { ...chat(7), stream: true }, path);
      const reader = body!.getReader();
      for (const _ of events) await reader.read();
      await reader.cancel();
      expect(await begun.used()).toBe(900);
    },
  );

  test.each(FINISHED)('when the stream breaks off behind them (%s)', async (_, path, ...events) => {
    const begun = begin();
    const send = answering(events.map(frameOf), true, { 'content-type': 'text/event-stream' });
    const answer = await post(send, begun, { ...chat(7), stream: true }, path);
    await expect(answer.text()).rejects.toThrow('terminated');
    expect(await begun.used()).toBe(900);
  });
});

describe('a stream whose hold lapses just before the model finishes ends once, and is settled by its figures', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
  afterEach(() => void jest.useRealTimers());

  /** Reads the first event, is slow while another call takes the place of this one, and reads the rest. */
  async function readLate<T>(open: (begun: ReturnType<typeof begin>) => Promise<ReadableStream<T>>) {
    const clock = new ManualClock();
    const own = memoryStore({ clock });
    const axes = {
      output: fixedWindow({ limit: 10_000, window: '1h' }),
      running: concurrency({ limit: 1 }),
    };
    const budget = meter({ name: 'late', store: own, axes, ttl: '1s' });
    const stream = await open({ ...begin(), budget: budget as never });
    const reader = stream.getReader();
    const read = [(await reader.read()).value];
    for (let i = 0; i < 9; i += 1) {
      await clock.advance('250ms');
      await jest.advanceTimersByTimeAsync(250);
    }
    const other = await budget.hold('ann', {});
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      read.push(value);
    }
    await other.cancel();
    const { output } = (await budget.status('ann')).left;
    await Promise.all([budget.close(), own.close()]);
    return { read, used: 10_000 - output! };
  }

  test.each(FINISHED)('%s', async (_, path, ...events) => {
    const frames = events.map(frameOf);
    const send = answering(frames, false, { 'content-type': 'text/event-stream' });
    const body = { ...chat(7), stream: true, stream_options: { include_usage: true } };
    const { read, used } = await readLate(async (begun) => (await post(send, begun, body, path)).body!);
    expect(read.map((bytes) => new TextDecoder().decode(bytes))).toEqual(frames);
    expect(used).toBe(900);
  });

  test('AI SDK', async () => {
    const usage = { inputTokens: { total: 5 }, outputTokens: { total: 900 } };
    const parts = [
      { type: 'text-delta', id: '1', delta: 'one two' },
      { type: 'finish', finishReason: { unified: 'stop' }, usage },
    ];
    const stream = new ReadableStream<object>({
      start: (controller) => {
        for (const part of parts) controller.enqueue(part);
        controller.close();
      },
    });
    const model = { modelId: 'm', specificationVersion: 'v3', doStream: async () => ({ stream }) };
    const { read, used } = await readLate(async ({ budget, options }) => {
      const params = { prompt: 'Say two words' };
      return (await sluiceMeter(budget, options).wrapStream({ params, model })).stream;
    });
    expect([read, used]).toEqual([parts, 900]);
  });
});

test('calls of models in APIs that a budget cannot count are refused, and not sent', async () => {
  const begun = begin();
  const paths = [
    'model/anthropic.claude-v1%3A0/invoke',
    'model/m/invoke-with-response-stream',
    'model/m/converse-stream',
    'publishers/anthropic/models/claude:rawPredict',
    'publishers/anthropic/models/claude:streamRawPredict',
    'models/gemini:generateContent',
    'responses/compact',
    'completions',
    'complete',
    'threads/runs',
    'threads/thread_1/runs',
    'threads/thread_1/runs/run_1/submit_tool_outputs',
  ];
  let sent = 0;
  const send: typeof fetch = async () => {
    sent += 1;
    return new Response('{}');
  };
  for (const path of paths) {
    const answer = await post(send, begun, {}, path);
    expect(answer.headers.get('x-should-retry')).toBe('false');
    expect(await answer.json()).toMatchObject({
      error: {
        code: 'TypeError',
        message: expect.stringContaining(`a budget cannot count a call of /v1/${path}`),
      },
    });
  }
  expect(sent).toBe(0);
});

test.each([
  ['amounts throws after an abort', () => false, /Error: no price/],
  ['the store is out', (operation: string) => operation === 'settle', /StoreUnavailableError: out/],
])(
  'a request that fails when %s rejects with its own error, and the other is a warning',
  async (_, fails, why) => {
    const { budget, options, used } = begin(failingAt(fails));
    const gone = new AbortController();
    const send: typeof fetch = (_input, init) =>
      new Promise((_resolve, reject) => {
        init!.signal!.addEventListener('abort', () => reject(init!.signal!.reason));
        setImmediate(() => gone.abort());
      });
    const amounts = ({ output }: { output: number }) => {
      if (output === 0 && !fails('settle')) throw new Error('no price');
      return { output };
    };
    const warnings = await warned(async () => {
      const call = meteredFetch(budget, { ...options, amounts, fetch: send })(
        'http://x/v1/chat/completions',
        {
          method: 'POST',
          body: JSON.stringify({ ...chat(5), max_tokens: 10 }),
          signal: gone.signal,
        },
      );
      expect(await call.catch((error: unknown) => error)).toBe(gone.signal.reason);
    });
    expect(warnings).toEqual([expect.stringMatching(why)]);
    expect(await used()).toBe(10);
  },
);

test('a refusal of the provider reaches the program also when the store is out', async () => {
  const begun = begin(failingAt((operation) => operation === 'settle'));
  const send: typeof fetch = async () =>
    Response.json({ error: { message: 'no such model' } }, { status: 404 });
  const warnings = await warned(async () => {
    const answer = await post(send, begun, chat(7));
    expect([answer.status, await answer.json()]).toEqual([404, { error: { message: 'no such model' } }]);
  });
  expect(warnings).toEqual([expect.stringMatching(/was not settled: StoreUnavailableError: out/)]);
});

test('an answer that breaks off says so also when the store is out', async () => {
  const begun = begin(failingAt((operation) => operation === 'settle'));
  const warnings = await warned(async () => {
    const answer = await post(answering(['{"choices": ['], true), begun, chat(7));
    expect([answer.status, await answer.text()]).toEqual([
      502,
      expect.stringMatching(/broke off: terminated/),
    ]);
  });
  expect(warnings).toHaveLength(1);
});

test('a stream that the program aborts rejects with its reason also when the store is out', async () => {
  const begun = begin(failingAt((operation) => operation === 'settle'));
  const gone = new AbortController();
  const piece = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'one' } }] })}\n\n`;
  const send = answering([piece, piece], false, { 'content-type': 'text/event-stream' });
  const warnings = await warned(async () => {
    const answer = await meteredFetch(begun.budget, { ...begun.options, fetch: send })(
      'http://x/v1/responses',
      {
        method: 'POST',
        body: JSON.stringify({ ...chat(7), stream: true }),
        signal: gone.signal,
      },
    );
    const reader = answer.body!.getReader();
    await reader.read();
    gone.abort(new Error('enough'));
    await expect(reader.read()).rejects.toThrow('enough');
  });
  expect(warnings).toHaveLength(1);
});

test('figures of the provider that are null are counted by the tokenizer', async () => {
  const begun = begin();
  const choices = [{ message: { content: 'one two' } }];
  const usage = { prompt_tokens: 5, completion_tokens: null, prompt_tokens_details: { cached_tokens: null } };
  await post(answering([JSON.stringify({ choices, usage })]), begun, chat(7));
  expect(await begun.used()).toBe(2);
  const none = { input: undefined, output: undefined, cacheRead: undefined };
  expect(chatFigures({ prompt_tokens: null })).toEqual(none);
  expect(responsesFigures({ input_tokens: null, output_tokens: null })).toEqual(none);
  expect(
    modelFigures({ inputTokens: { total: null, cacheRead: null, cacheWrite: null }, outputTokens: {} }),
  ).toEqual({
    ...none,
    cacheWrite: undefined,
  });
});

test('figures of version 5 of the AI SDK are flat, and Anthropic counts its cache apart', () => {
  const usage = { inputTokens: 50, outputTokens: 7, totalTokens: 57, cachedInputTokens: 30 };
  const flat = { input: 50, output: 7, cacheRead: 30, cacheWrite: undefined };
  expect(modelFigures(usage, { openai: {} })).toEqual(flat);
  expect(modelFigures(usage, { anthropic: { cacheCreationInputTokens: 4 } })).toEqual({
    ...{ input: 84, output: 7, cacheRead: 30, cacheWrite: 4 },
  });
  expect(modelFigures({ inputTokens: undefined, outputTokens: undefined })).toEqual({});
  const reader = new PartReader('v2');
  expect(reader.read({ type: 'text-start', id: '1' })).toBe('');
  const stop = { stopped: 'budget', axis: 'usd', scope: 'ann', retryAfter: 5 } as const;
  expect(reader.end(stop, { model: 'm', input: 50, output: 7, cacheRead: 30, cacheWrite: 0 })).toEqual([
    { type: 'text-end', id: '1' },
    { type: 'finish', finishReason: 'length', usage, providerMetadata: { sluice: stop } },
  ]);
});

test('an answer that cannot be settled rejects, and is not sent again', async () => {
  const { openai } = begin(failingAt((operation) => operation === 'settle'));
  await expect(openai.chat.completions.create(chat(7))).rejects.toMatchObject({
    status: 503,
    code: 'SLUICE_STORE_UNAVAILABLE',
  });
  expect(provider.calls).toHaveLength(1);
});

test('a stream begins with the rest of a budget that has no room for a whole step', async () => {
  const { budget, openai, used } = begin();
  const hold = await budget.hold('ann', { output: 280 });
  const stream = await openai.chat.completions.create({ ...chat(5_000), stream: true });
  let text = '';
  for await (const { choices } of stream) text += choices[0]!.delta.content ?? '';
  expect(tokensOf(text)).toBe(12); // an eighth of the step, and no second one
  await hold.cancel();
  expect(await used()).toBe(12);
});

test('a wrong function of the program rejects with its error, and is not called again', async () => {
  const { budget, options } = begin();
  const call = (given: object) =>
    meterClient(new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` }), budget, {
      ...options,
      ...given,
    }).chat.completions.create(chat(7));
  await expect(call({ count: () => Number.NaN })).rejects.toThrow(/the result of count must be a whole/);
  expect(() => call({ upstream: 'openai' })).toThrow(
    /upstream must be made by upstream\(…\) of @sluice\/outgoing, not "openai"/,
  );
  expect(() => call({ cost: () => 1 })).toThrow(/pass upstream, too/);
  await expect(call({ amounts: () => ({ euro: 1 }) })).rejects.toThrow(/has no option 'euro'|no option/);
  expect(provider.calls).toEqual([]);
});

test('other requests pass without a budget', async () => {
  const { budget, options, used } = begin();
  const seen: string[] = [];
  const send: typeof fetch = async (input) => {
    seen.push(String(input));
    return new Response('{}');
  };
  const metered = meteredFetch(budget, { ...options, fetch: send });
  const paths = ['models', 'messages/count_tokens', 'threads', 'threads/t/messages', 'evals/e/runs'];
  const urls = paths.map((path) => `http://x/v1/${path}`);
  for (const url of urls) await metered(url, { method: 'POST', body: 'no JSON' });
  await metered('http://x/v1/responses');
  expect(seen).toEqual([...urls, 'http://x/v1/responses']);
  expect(await used()).toBe(0);
});

test('a Request is read, and a body that is no text is refused', async () => {
  const { budget, options, used } = begin();
  const metered = meteredFetch(budget, options);
  const url = `${provider.url}/v1/chat/completions`;
  const body = JSON.stringify({ ...chat(9), stream: true });
  const answer = await metered(new Request(url, { method: 'POST', body }));
  expect(await answer.text()).toMatch(/\[DONE\]\n\n$/);
  expect(await used()).toBe(9);
  for (const wrong of [new Uint8Array(2), 'null', '5', '[]', '{']) {
    const refused = await metered(url, { method: 'POST', body: wrong });
    expect([refused.status, await refused.text()]).toEqual([
      500,
      expect.stringMatching(/must be a JSON object/),
    ]);
  }
});

test.each(['/v1/chat/completions/', '/v1/chat/%63ompletions', '/v1/chat/completions%2F', '/v1/messages//'])(
  'a call of %s counts, because servers answer it as the usual path',
  async (path) => {
    const { budget, options, used } = begin();
    const usage = { prompt_tokens: 1, completion_tokens: 7, input_tokens: 1, output_tokens: 7 };
    const metered = meteredFetch(budget, { ...options, fetch: async () => Response.json({ usage }) });
    await metered(`https://api.example.com${path}`, { method: 'POST', body: JSON.stringify(chat(9)) });
    expect(await used()).toBe(7);
  },
);

test('a call of a model that cannot be counted is refused in each spelling of its path', async () => {
  const { budget, options } = begin();
  const fetch = jest.fn();
  const metered = meteredFetch(budget, { ...options, fetch });
  for (const path of [
    '/v1/completions/',
    '/v1/%63ompletions',
    '/model/a%2Fb/invoke/',
    '/a%3AgenerateContent',
  ])
    expect((await metered(`https://a.example${path}`, { method: 'POST', body: '{}' })).status).toBe(500);
  expect(fetch).not.toHaveBeenCalled();
});

test('an address that only the upstream completes is counted', async () => {
  const { budget, options, used } = begin();
  const upstream: LimitedService = {
    fetch: async () => Response.json({ usage: { completion_tokens: 7 } }),
    withCost: (_, __, work) => work(),
  };
  const body = JSON.stringify(chat(9));
  const metered = meteredFetch(budget, { ...options, upstream });
  expect((await metered('/v1/chat/completions', { method: 'POST', body })).status).toBe(200);
  expect(await used()).toBe(7);
});

test('an event is read with the line separators of Unicode in its text, and found in many pieces', async () => {
  const text = `data:{"a":"one\u2028two\u2029three ${'x'.repeat(500)}"}\r\n\r\n`;
  async function* body() {
    for (const character of `${text}${text}`) yield new TextEncoder().encode(character);
  }
  const frames = [];
  for await (const frame of framesOf(body())) frames.push(frame);
  expect(frames.map((frame) => frame.text)).toEqual([text, text]);
  expect(frames[0]!.data.a).toMatch(/^one\u2028two\u2029three x+$/);
});

test('each character of an event of some megabytes, such as an image, is searched about once', async () => {
  let searched = 0;
  const { test: search } = RegExp.prototype;
  const piece = new TextEncoder().encode('x'.repeat(1_000));
  async function* body() {
    yield new TextEncoder().encode('data: "');
    for (let i = 0; i < 4_000; i += 1) yield piece;
    yield new TextEncoder().encode('"\n\n');
  }
  // No spy of Jest, which would keep all texts.
  RegExp.prototype.test = function (text) {
    searched += text.length;
    return search.call(this, text);
  };
  try {
    expect((await framesOf(body()).next()).value).toMatchObject({ data: 'x'.repeat(4_000_000) });
  } finally {
    RegExp.prototype.test = search;
  }
  expect(searched).toBeGreaterThan(4_000_000);
  expect(searched).toBeLessThan(5_000_000);
});

test('an event ends with an empty line, whether lines end with CR, LF or both', async () => {
  for (const end of ['\r', '\n', '\r\n'] as const) {
    const text = [1, 2, 3].map((i) => `event: e${end}data: {"i":${end}data: ${i}}${end}${end}`).join('');
    for (const size of [1, 2, 3, 5, text.length]) {
      async function* body() {
        for (let at = 0; at < text.length; at += size)
          yield new TextEncoder().encode(text.slice(at, at + size));
      }
      const frames: Frame[] = [];
      for await (const frame of framesOf(body())) frames.push(frame);
      expect(frames.flatMap(({ data }) => (data === undefined ? [] : [data]))).toEqual([
        { i: 1 },
        { i: 2 },
        { i: 3 },
      ]);
      expect(frames.map((frame) => frame.text).join('')).toBe(text);
    }
  }
});

test('an event whose lines end with CR is there before the next one arrives', async () => {
  async function* body() {
    yield new TextEncoder().encode('data: 1\r\r');
    await new Promise(() => {});
  }
  expect(await framesOf(body()).next()).toMatchObject({ value: { data: 1 } });
});

test('the totals of message_delta replace those of message_start, unless they are null', () => {
  const reader = new MessageReader();
  const usage = { input_tokens: 10, cache_read_input_tokens: 100, output_tokens: 1 };
  reader.read({ type: 'message_start', message: { usage } });
  expect(reader.figures).toEqual({ input: 110, output: undefined, cacheRead: 100, cacheWrite: 0 });
  const totals = { input_tokens: 30, cache_read_input_tokens: null, cache_creation_input_tokens: 5 };
  reader.read({ type: 'message_delta', delta: {}, usage: { ...totals, output_tokens: 7 } });
  expect(reader.figures).toEqual({ input: 135, output: 7, cacheRead: 100, cacheWrite: 5 });
});

test('the text of a prompt has the JSON of tools and plain documents, and no files', () => {
  const value = { id: 7, status: 'late', url: 'a', data: [true, null] };
  const result = (output: object) => ({ type: 'tool-result', toolCallId: 'x', toolName: 'find', output });
  expect(textOf(result({ type: 'json', value }))).toBe(`find${JSON.stringify(value)}`);
  expect(textOf(result({ type: 'text', value: 'found' }))).toBe('findfound');
  const files = [
    { type: 'text', text: 'see' },
    { type: 'media', data: 'AAAA', mediaType: 'image/png' },
  ];
  expect(textOf(result({ type: 'content', value: files }))).toBe('findsee');
  expect(textOf({ type: 'tool_use', id: 'x', name: 'find', input: value })).toBe(
    `find${JSON.stringify(value)}`,
  );
  expect(textOf({ type: 'function_call_output', call_id: 'x', output: 'found' })).toBe('found');
  expect(textOf({ type: 'function_call_output', output: [{ type: 'input_text', text: 'found' }] })).toBe(
    'found',
  );
  expect(textOf({ type: 'mcp_call', output: value })).toBe(JSON.stringify(value));
  expect(textOf({ type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'long' } })).toBe(
    'long',
  );
  expect(textOf({ type: 'image_generation_call', id: 'x', status: 'completed', result: 'iVBORw0KGgo' })).toBe(
    '',
  );
  expect(textOf({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })).toBe(
    '',
  );
});

test('a chat stream that ends with the budget before any choice has choice 0', () => {
  const stop = { stopped: 'budget', axis: 'usd', scope: 'ann', retryAfter: null } as const;
  const reader = new ChatReader(false);
  reader.read({ choices: [], prompt_filter_results: [] });
  const usage = { model: 'm', input: 1, output: 0, cacheRead: 0, cacheWrite: 0 };
  expect(reader.end(stop, usage)[0].choices).toMatchObject([{ index: 0, finish_reason: 'length' }]);
});

test.each([[{}], ['text'], [null], [[null]], [[7]]])(
  'a chat stream whose choices are %j has no text',
  (choices) => {
    expect(new ChatReader(false).read({ choices })).toBe('');
  },
);

test('events are read whole, however the network cuts them', async () => {
  const bytes = new TextEncoder().encode(
    'data: {"a":"é"}\r\n\r\n: ping\n\nevent: b\ndata: {\ndata: "b":1}\n\ndata: [DONE]',
  );
  async function* one() {
    for (const byte of bytes) yield Uint8Array.of(byte);
  }
  async function* all() {
    yield bytes;
  }
  for (const cut of [one(), all()]) {
    const frames = [];
    for await (const { data, text } of framesOf(cut)) frames.push([data, text]);
    expect(frames).toEqual([
      [{ a: 'é' }, 'data: {"a":"é"}\r\n\r\n'],
      [undefined, ': ping\n\n'],
      [{ b: 1 }, 'event: b\ndata: {\ndata: "b":1}\n\n'],
      [undefined, 'data: [DONE]'],
    ]);
  }
});

describe('a stream that ends within a call of a tool', () => {
  const stop = { stopped: 'budget', axis: 'usd', scope: 'ann', retryAfter: null } as const;
  const usage = { model: 'm', input: 1, output: 2, cacheRead: 0, cacheWrite: 0 };

  test('has its arguments counted, and ends each choice (chat completions)', () => {
    const reader = new ChatReader(false);
    const call = { index: 0, id: 'call', type: 'function', function: { name: 'find', arguments: '{"a"' } };
    expect(reader.read({ choices: [{ index: 0, delta: { tool_calls: [call] } }] })).toBe('find{"a"');
    reader.read({ choices: [{ index: 1, delta: {}, finish_reason: 'stop' }] });
    expect(reader.end(stop, usage)).toMatchObject([
      { choices: [{ index: 0, finish_reason: 'length' }], sluice: stop },
      '[DONE]',
    ]);
  });

  test('does not look as if it were whole (responses)', () => {
    const reader = new ResponsesReader();
    const item = { type: 'function_call', id: 'f', name: 'find', arguments: '' };
    reader.read({ type: 'response.output_item.added', output_index: 0, item, sequence_number: 4 });
    const delta = '{"a"';
    const read = { type: 'response.function_call_arguments.delta', output_index: 0, delta };
    expect(reader.read({ ...read, sequence_number: 5 })).toBe(delta);
    expect(reader.end(stop, usage)).toMatchObject([
      {
        type: 'response.incomplete',
        sequence_number: 6,
        response: { output: [{ arguments: delta, status: 'incomplete' }] },
      },
    ]);
  });

  test('ends also a message that was added without content (responses)', () => {
    const reader = new ResponsesReader();
    const item = { type: 'message', id: 'm' };
    reader.read({ type: 'response.output_item.added', output_index: 0, item });
    expect(reader.end(stop, usage)).toMatchObject([
      { type: 'response.output_item.done', item: { id: 'm', status: 'incomplete' } },
      { type: 'response.incomplete', sluice: stop },
    ]);
    const at = { output_index: 0, content_index: 0 };
    reader.read({ ...at, type: 'response.content_part.added', part: { type: 'output_text', text: '' } });
    reader.read({ ...at, type: 'response.output_text.delta', delta: 'one' });
    expect(reader.end(stop, usage)[0]).toMatchObject({ type: 'response.output_text.done', text: 'one' });
  });

  test('ends its block (messages)', () => {
    const reader = new MessageReader();
    reader.read({ type: 'content_block_start', index: 1, content_block: { type: 'tool_use' } });
    const delta = { type: 'input_json_delta', partial_json: '{"a"' };
    expect(reader.read({ type: 'content_block_delta', index: 1, delta })).toBe('{"a"');
    expect(reader.end(stop, usage)).toMatchObject([
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'max_tokens' }, sluice: stop },
      { type: 'message_stop' },
    ]);
  });

  test('ends its input (AI SDK)', () => {
    const reader = new PartReader('v3');
    reader.read({ type: 'tool-input-start', id: 't', toolName: 'find' });
    expect(reader.read({ type: 'tool-input-delta', id: 't', delta: '{"a"' })).toBe('{"a"');
    expect(reader.end(stop, usage)).toMatchObject([
      { type: 'tool-input-end', id: 't' },
      { type: 'finish', finishReason: { unified: 'length' }, providerMetadata: { sluice: stop } },
    ]);
  });
});

test('amounts receives the tokens of a cache as part of the input', async () => {
  const { budget, options } = begin();
  const seen: object[] = [];
  const usage = {
    input_tokens: 5,
    cache_read_input_tokens: 100,
    cache_creation_input_tokens: 20,
    output_tokens: 3,
  };
  const send: typeof fetch = async () => Response.json({ content: [], usage });
  const amounts = (given: { output: number }) => {
    seen.push(given);
    return { output: given.output };
  };
  const metered = meteredFetch(budget, { ...options, amounts, fetch: send });
  await metered('http://x/v1/messages', {
    method: 'POST',
    body: JSON.stringify(message(3)).replace('5000', '9'),
  });
  expect(seen.at(-1)).toEqual({ model: 'fake-1', input: 125, output: 3, cacheRead: 100, cacheWrite: 20 });
});

test('bad options are refused at once', () => {
  const { budget, options } = begin();
  const client = new OpenAI({ apiKey: 'none' });
  const refuses = (make: () => unknown, message: RegExp) => expect(make).toThrow(message);
  refuses(() => sluiceMeter({} as typeof budget, options), /sluiceMeter: budget must be made by meter/);
  refuses(
    () => sluiceMeter(budget, { ...options, count: 5 } as never),
    /sluiceMeter: count must be a function/,
  );
  refuses(
    () => sluiceMeter(budget, { ...options, who: undefined as never }),
    /who must name whose budget pays/,
  );
  refuses(
    () => meterClient(client, budget, { ...options, step: 0 }),
    /meterClient: step must be a whole number/,
  );
  refuses(() => meterClient({} as typeof client, budget, options), /client must be a client of openai/);
  refuses(() => meteredFetch(budget, { ...options, fetch: 5 as never }), /fetch must be a function/);
  refuses(() => meteredFetch(budget, { ...options, amount: 5 } as never), /did you mean 'amounts'/);
});
