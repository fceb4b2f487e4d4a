import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { concurrency, fixedWindow, memoryStore, type Store, StoreUnavailableError } from '@sluice/core';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import OpenAI from 'openai';
import { FakeProvider } from '../../../../examples/chat/src/fake-provider.js';
import { tokensOf } from '../../../../examples/chat/src/tokens.js';
import { like } from '../../../../tests/support/like.js';
import { isBudgetExceededError, meter, meterClient, sluiceMeter, stoppedBy } from '../index.js';

// The real clients against a provider on 127.0.0.1 that speaks their APIs. A token is a word.

const LIMIT = 500;
/** What the provider says of each prompt. */
const INPUT = 20;

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
  const axes = {
    usd: fixedWindow({ limit: 1e9, window: '1h' }),
    output: fixedWindow({ limit: LIMIT, window: '1h' }),
    running: concurrency({ limit: 8 }),
  };
  const budget = meter({ name: `models-${meters}`, store: own, axes });
  const options = {
    who: 'ann',
    count: tokensOf,
    step: 100,
    amounts: ({ input, output }: { input: number; output: number }) => ({
      output,
      usd: input + 1_000 * output,
    }),
  };
  const used = async () => {
    const { left } = await budget.status('ann');
    return { output: LIMIT - left.output!, usd: 1e9 - left.usd!, running: 8 - left.running! };
  };
  return { budget, options, used };
}

/** The amounts that a call of these tokens uses. */
const spent = (input: number, output: number) => ({ output, usd: input + 1_000 * output, running: 0 });

interface Streamed {
  readonly text: string;
  /** As the vendor calls it. */
  readonly finish: string | null | undefined;
  readonly stop: unknown;
}

/** A way to call the provider. */
interface Way {
  stream(begun: ReturnType<typeof begin>, prompt: string, most?: number, words?: number): Promise<Streamed>;
  whole(begun: ReturnType<typeof begin>, prompt: string, most?: number): Promise<string>;
  /** The finish reason of a stream that ends with the budget. */
  readonly length: string;
  /** The finish reason of a whole stream. */
  readonly finished: string;
  /** Tokens of its prompt by the tokenizer, or by the provider if that says it at once. */
  readonly counted: number;
}

const openai = ({ budget, options }: ReturnType<typeof begin>) =>
  meterClient(new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` }), budget, options);
const anthropic = ({ budget, options }: ReturnType<typeof begin>) =>
  meterClient(new Anthropic({ apiKey: 'none', baseURL: provider.url }), budget, options);
const model = ({ budget, options }: ReturnType<typeof begin>) =>
  wrapLanguageModel({
    model: createOpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` })('fake-1'),
    middleware: sluiceMeter(budget, options),
  });
const user = (content: string) => [{ role: 'user' as const, content }];

const WAYS: Readonly<Record<string, Way>> = {
  'chat completions of openai': {
    length: 'length',
    finished: 'stop',
    counted: 3,
    async stream(begun, prompt, most, words = Number.POSITIVE_INFINITY) {
      let text = '';
      let finish: string | null | undefined;
      let stop: unknown;
      const limit = most === undefined ? {} : { max_tokens: most };
      const messages = user(prompt);
      const request = { model: 'fake-1', messages, stream: true as const, ...limit };
      for await (const chunk of await openai(begun).chat.completions.create(request)) {
        text += chunk.choices[0]!.delta.content ?? '';
        finish ??= chunk.choices[0]!.finish_reason;
        stop ??= stoppedBy(chunk);
        if (tokensOf(text) >= words) break;
      }
      return { text, finish, stop };
    },
    async whole(begun, prompt, most) {
      const limit = most === undefined ? {} : { max_tokens: most };
      const request = { model: 'fake-1', messages: user(prompt), ...limit };
      return (await openai(begun).chat.completions.create(request)).choices[0]!.message.content!;
    },
  },
  'responses of openai': {
    length: 'max_output_tokens',
    finished: 'completed',
    counted: 3,
    async stream(begun, prompt, most, words = Number.POSITIVE_INFINITY) {
      let text = '';
      let finish: string | undefined;
      let stop: unknown;
      const limit = most === undefined ? {} : { max_output_tokens: most };
      const request = { model: 'fake-1', input: prompt, stream: true as const, ...limit };
      for await (const event of await openai(begun).responses.create(request)) {
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (event.type === 'response.completed') finish = event.response.status;
        if (event.type === 'response.incomplete') finish = event.response.incomplete_details!.reason;
        stop ??= stoppedBy(event);
        if (tokensOf(text) >= words) break;
      }
      return { text, finish, stop };
    },
    async whole(begun, prompt, most) {
      const limit = most === undefined ? {} : { max_output_tokens: most };
      return (await openai(begun).responses.create({ model: 'fake-1', input: prompt, ...limit })).output_text;
    },
  },
  'messages of anthropic': {
    length: 'max_tokens',
    finished: 'end_turn',
    counted: INPUT,
    async stream(begun, prompt, most = 5_000, words = Number.POSITIVE_INFINITY) {
      let text = '';
      let finish: string | null | undefined;
      let stop: unknown;
      const request = { model: 'fake-1', messages: user(prompt), max_tokens: most, stream: true as const };
      for await (const event of await anthropic(begun).messages.create(request)) {
        if (event.type === 'content_block_delta' && event.delta.type === 'text_delta')
          text += event.delta.text;
        if (event.type === 'message_delta') finish = event.delta.stop_reason;
        stop ??= stoppedBy(event);
        if (tokensOf(text) >= words) break;
      }
      return { text, finish, stop };
    },
    async whole(begun, prompt, most = 100) {
      const request = { model: 'fake-1', messages: user(prompt), max_tokens: most };
      const { content } = await anthropic(begun).messages.create(request);
      return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
    },
  },
  'the AI SDK': {
    length: 'length',
    finished: 'stop',
    counted: 3,
    async stream(begun, prompt, most, words = Number.POSITIVE_INFINITY) {
      const gone = new AbortController();
      let failure: unknown;
      const result = streamText({
        model: model(begun),
        prompt,
        abortSignal: gone.signal,
        onError: ({ error }) => {
          failure = error;
        },
        ...(most === undefined ? {} : { maxOutputTokens: most }),
      });
      let text = '';
      for await (const delta of result.textStream) {
        text += delta;
        if (tokensOf(text) < words) continue;
        gone.abort();
        return { text, finish: undefined, stop: undefined };
      }
      if (failure !== undefined) throw failure;
      const [finish, metadata] = await Promise.all([result.finishReason, result.providerMetadata]);
      return { text, finish, stop: stoppedBy(metadata) };
    },
    async whole(begun, prompt, most) {
      const limit = most === undefined ? {} : { maxOutputTokens: most };
      return (await generateText({ model: model(begun), prompt, ...limit })).text;
    },
  },
};

/** Until what a cancelled stream has used is settled. */
async function settled({ used }: ReturnType<typeof begin>) {
  while ((await used()).running > 0) await new Promise(setImmediate);
  return used();
}

describe.each(Object.entries(WAYS))('%s', (_, way) => {
  test('passes a stream within the budget whole, and settles what the provider says', async () => {
    const begun = begin();
    const { text, finish, stop } = await way.stream(begun, 'Say 250 words');
    expect([tokensOf(text), finish, stop]).toEqual([250, way.finished, undefined]);
    expect(await begun.used()).toEqual(spent(INPUT, 250));
    expect(provider.calls).toMatchObject([{ sent: 250, isAborted: false }]);
  });

  test('ends a stream cleanly with the budget, says which axis ended it, and aborts the request', async () => {
    const begun = begin();
    const { text, finish, stop } = await way.stream(begun, 'Say 50000 words');
    expect([tokensOf(text), finish]).toEqual([LIMIT, way.length]);
    expect(stop).toEqual({
      stopped: 'budget',
      axis: 'output',
      scope: 'ann',
      retryAfter: expect.any(Number),
    });
    expect(await begun.used()).toEqual(spent(way.counted, LIMIT));
    while (!provider.calls[0]!.isAborted) await new Promise(setImmediate);
    expect(provider.calls[0]!.sent).toBeLessThan(50_000);
  });

  test('counts what arrived by the tokenizer if the provider says nothing', async () => {
    provider.hasUsage = false;
    const begun = begin();
    await way.stream(begun, 'Say 250 words');
    expect(await begun.used()).toEqual(spent(way.counted, 250));
  });

  test('counts what arrived when the program leaves, and aborts the request', async () => {
    const begun = begin();
    await way.stream(begun, 'Say 50000 words', undefined, 30);
    const { output, usd } = await settled(begun);
    expect(output).toBeGreaterThanOrEqual(30);
    expect(output).toBeLessThan(LIMIT);
    expect(usd).toBe(way.counted + 1_000 * output);
    while (!provider.calls[0]!.isAborted) await new Promise(setImmediate);
  });

  test('holds for a stream no more than it may generate', async () => {
    const begun = begin();
    const hold = await begun.budget.hold('ann', { output: LIMIT - 10 });
    const { text } = await way.stream(begun, 'Say 5 words', 10);
    expect(tokensOf(text)).toBe(5);
    await hold.cancel();
  });

  test('settles a whole response', async () => {
    const begun = begin();
    expect(tokensOf(await way.whole(begun, 'Say 40 words'))).toBe(40);
    expect(await begun.used()).toEqual(spent(INPUT, 40));
  });

  test('holds for a whole response all that it may generate', async () => {
    const begun = begin();
    const error = await way.whole(begun, 'Say 40 words', LIMIT + 1).catch((error: unknown) => error);
    expect(isBudgetExceededError(error) || stoppedBy(error)?.axis).toBeTruthy();
    expect(await begun.used()).toEqual(spent(0, 0));
    expect(provider.calls).toEqual([]);
  });

  test('sends nothing when the budget has ended, and rejects once', async () => {
    const begun = begin();
    await (await begun.budget.hold('ann', { output: LIMIT })).settle({ output: LIMIT });
    const error = await way.stream(begun, 'Say 5 words').catch((error: unknown) => error);
    expect(error).toMatchObject({
      message: expect.stringMatching(/has 0 of 500 left of axis 'output'/),
      status: 429,
    });
    expect(provider.calls).toEqual([]);
  });

  test('counts nothing for a call that the provider refuses', async () => {
    provider.status = 400;
    const begun = begin();
    await expect(way.stream(begun, 'Say 5 words')).rejects.toThrow(/overloaded/);
    await expect(way.whole(begun, 'Say 5 words')).rejects.toThrow(/overloaded/);
    expect(await begun.used()).toEqual(spent(0, 0));
    expect(provider.calls).toHaveLength(2);
  });

  test('sends nothing when the store is out, and rejects once', async () => {
    const failing = like(store, {
      decide: () => {
        throw new StoreUnavailableError('out');
      },
    });
    await expect(way.whole(begin(failing), 'Say 5 words')).rejects.toThrow(/out/);
    expect(provider.calls).toEqual([]);
  });
});
