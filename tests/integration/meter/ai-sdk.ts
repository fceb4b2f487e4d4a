import assert from 'node:assert/strict';
import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import { FakeProvider } from '../../../examples/chat/src/fake-provider.js';
import { tokensOf } from '../../../examples/chat/src/tokens.js';
import { fixedWindow, memoryStore } from '../../../packages/core/src/index.js';
import { isBudgetExceededError, meter, sluiceMeter, stoppedBy } from '../../../packages/meter/src/index.js';

// What `sluiceMeter` promises, with the version of the AI SDK that is installed: see scripts/ai-sdk.mjs.

const LIMIT = 300;
const INPUT = 20;

async function main(): Promise<void> {
  const provider = await FakeProvider.start();
  const store = memoryStore();
  const usage = fixedWindow({ limit: LIMIT, window: '1h' });
  const budget = meter({ name: 'ai', store, axes: { tokens: usage } });
  const modelOf = (who: string) =>
    wrapLanguageModel({
      model: createOpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` })('fake-1'),
      middleware: sluiceMeter(budget, {
        ...{ who, count: tokensOf, step: 50 },
        amounts: ({ input, output }) => ({ tokens: input + output }),
      }),
    });
  const used = async (who: string) => LIMIT - (await budget.status(who)).left.tokens!;

  await generateText({ model: modelOf('ann'), prompt: 'Say 40 words', maxOutputTokens: 100 });
  assert.equal(await used('ann'), INPUT + 40);

  let text = '';
  const whole = streamText({ model: modelOf('ben'), prompt: 'Say 90 words' });
  for await (const delta of whole.textStream) text += delta;
  assert.deepEqual([tokensOf(text), await whole.finishReason], [90, 'stop']);
  assert.equal(await used('ben'), INPUT + 90);

  text = '';
  const ended = streamText({ model: modelOf('cid'), prompt: 'Say 5000 words' });
  for await (const delta of ended.textStream) text += delta;
  assert.equal(await ended.finishReason, 'length');
  assert.equal(stoppedBy(await ended.providerMetadata)?.axis, 'tokens');
  assert.equal((await ended.usage).outputTokens, tokensOf(text));
  assert.equal(await used('cid'), 3 + tokensOf(text));
  assert.ok(tokensOf(text) > LIMIT - 20 && tokensOf(text) < LIMIT);

  const denied = generateText({ model: modelOf('cid'), prompt: 'Say 40 words', maxOutputTokens: 100 });
  await assert.rejects(denied, (error) => isBudgetExceededError(error));
  assert.equal(provider.calls.length, 3);
  await Promise.all([budget.close(), store.close(), provider.stop()]);
}

void main();
