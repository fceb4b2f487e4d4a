import { createOpenAI } from '@ai-sdk/openai';
import { generateText, streamText, wrapLanguageModel } from 'ai';
import OpenAI from 'openai';
import { FakeProvider } from '../../../examples/chat/src/fake-provider.js';
import { tokensOf } from '../../../examples/chat/src/tokens.js';
import { fixedWindow, ManualClock, RateLimiter, type Store } from '../../../packages/core/src/index.js';
import {
  type Meter,
  type ModelOptions,
  meter,
  meterClient,
  sluiceMeter,
  stoppedBy,
} from '../../../packages/meter/src/index.js';
import { type Upstream, upstream } from '../../../packages/outgoing/src/index.js';
import type { StoreKind } from '../../contracts/store/harness.js';
import { eventually } from '../../support/eventually.js';
import { uniqueName } from '../../support/redis-url.js';
import { rejection } from '../../support/rejection.js';
import { warned } from '../../support/warned.js';

/** Tokens of each tenant. */
const BUDGET = 300;
/** Tokens that the provider accepts from all tenants together. */
const LIMIT = 450;
/** What the provider says of each prompt, and what the tokenizer counts. */
const INPUT = 20;
const COUNTED = 3;

/** A tenant's budget and the limits of a provider, as one client, on a kind of store. */
export function upstreamSuite(kind: StoreKind): void {
  describe(`a budget and the limits of its provider on ${kind.name}`, () => {
    let provider: FakeProvider;
    let store: Store;
    let budget: Meter<string, 'tokens'>;
    let service: Upstream;
    let limiter: RateLimiter;
    beforeEach(async () => {
      provider = await FakeProvider.start();
      store = kind.open(new ManualClock());
      const tokens = fixedWindow({ limit: BUDGET, window: '1h' });
      budget = meter({ name: uniqueName('meter'), store, axes: { tokens }, deadline: '10s' });
      const [name, policy] = [uniqueName('provider'), fixedWindow({ limit: LIMIT, window: '1h' })];
      service = upstream({
        ...{ name, origin: provider.url, store, account: () => 'ours', timeout: 0, deadline: '10s' },
        limits: { tokens: policy },
      });
      limiter = new RateLimiter({ name: `${name}:tokens`, policy, store, hashTag: name, deadline: '10s' });
    });
    afterEach(async () => {
      await Promise.all([service.close(), limiter.close(), budget.close(), provider.stop()]);
      await store.close();
    });

    const optionsOf = (who: string): ModelOptions<string, 'tokens'> => ({
      who,
      count: tokensOf,
      step: 100,
      amounts: ({ input, output }) => ({ tokens: input + output }),
      upstream: service,
      cost: ({ input, output }) => ({ tokens: input + output }),
    });
    const say = (words: number) => [{ role: 'user' as const, content: `Say ${words} words` }];
    const clientOf = (who: string, more: Partial<ModelOptions<string, 'tokens'>> = {}) => {
      const client = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1`, maxRetries: 0 });
      return meterClient(client, budget, { ...optionsOf(who), ...more });
    };
    const whole = (who: string, words: number, most = words) =>
      clientOf(who).chat.completions.create({ model: 'fake-1', messages: say(words), max_tokens: most });
    const used = async (who: string) => BUDGET - (await budget.status(who)).left.tokens!;
    const taken = async () => LIMIT - (await limiter.peek('account:ours')).remaining;

    test('a call takes its estimate of both before it leaves, and both count what it used', async () => {
      let held: number[] = [];
      provider.onCall = async () => {
        held = [await used('ann'), await taken()];
      };
      await whole('ann', 40, 200);
      expect(held).toEqual([COUNTED + 200, COUNTED + 200]);
      expect(await used('ann')).toBe(INPUT + 40);
      await eventually(async () => (await taken()) === INPUT + 40);
    });

    test('a call that the budget denies takes nothing of the provider, and is not sent', async () => {
      const error = await rejection(whole('ann', 5, BUDGET));
      expect(stoppedBy(error)).toMatchObject({ axis: 'tokens', scope: 'ann' });
      expect([await used('ann'), await taken(), provider.calls]).toEqual([0, 0, []]);
    });

    test('a call that the provider has no room for takes nothing of the budget, and is refused once', async () => {
      await limiter.consume('account:ours', { cost: 350 });
      const error = await rejection(whole('ann', 5, 100));
      expect(error).toMatchObject({ status: 429, code: 'SLUICE_RATE_LIMIT_EXCEEDED' });
      expect((error as { headers: Headers }).headers.get('retry-after')).toBe('3600');
      expect(stoppedBy(error)).toBeUndefined();
      expect([await used('ann'), await taken(), provider.calls]).toEqual([0, 350, []]);
      await whole('ann', 5, 90);
      expect(await used('ann')).toBe(INPUT + 5);
    });

    test.each<[string, (signal: AbortSignal) => object]>([
      ['that its program aborts', (signal) => ({ signal })],
      ['whose client times out', () => ({ timeout: 300, maxRetries: 1 })],
    ])('a call %s while it waits for the provider takes nothing of the budget', async (_, withEnd) => {
      const name = uniqueName('full');
      const policy = fixedWindow({ limit: LIMIT, window: '1h' });
      const common = { name, origin: provider.url, store, account: () => 'ours', deadline: '10s' } as const;
      const full = upstream({ ...common, timeout: '2h', limits: { tokens: policy } });
      await full.withCost({ tokens: LIMIT }, Promise.resolve(undefined), () => full.fetch('/'));
      provider.calls.length = 0;
      const gone = new AbortController();
      const request = { model: 'fake-1', messages: say(5), max_tokens: 100 };
      const call = clientOf('ann', { upstream: full }).chat.completions.create(request, withEnd(gone.signal));
      setTimeout(() => gone.abort(), 100);
      await rejection(call);
      await eventually(async () => (await used('ann')) === 0);
      expect(provider.calls).toEqual([]);
      await full.close();
    });

    test('calls at the same time leave nothing taken by those that one of the two denies', async () => {
      const calls = ['ann', 'ben', 'cid', 'dan'].flatMap((who) => [1, 2, 3].map(() => whole(who, 10, 110)));
      const ended = await Promise.allSettled(calls);
      const passed = ended.filter(({ status }) => status === 'fulfilled').length;
      expect(passed).toBeGreaterThanOrEqual(3); // three estimates of 113 fit at once, of two for each tenant
      expect(provider.calls).toHaveLength(passed);
      await eventually(async () => (await taken()) === passed * (INPUT + 10));
      const each = await Promise.all(['ann', 'ben', 'cid', 'dan'].map(used));
      expect(each.reduce((sum, one) => sum + one)).toBe(passed * (INPUT + 10));
    });

    test('a stream takes its estimate of the provider, and both count what arrived when the budget ends it', async () => {
      const stream = await clientOf('ann').chat.completions.create({
        ...{ model: 'fake-1', messages: say(5_000), max_tokens: 400, stream: true },
      });
      expect(await taken()).toBe(COUNTED + 400);
      let stop: unknown;
      for await (const chunk of stream) stop ??= stoppedBy(chunk);
      expect(stop).toMatchObject({ axis: 'tokens' });
      const spent = await used('ann');
      expect(spent).toBeGreaterThan(BUDGET - 12); // an eighth of a step did not fit
      expect(spent).toBeLessThanOrEqual(BUDGET);
      await eventually(async () => (await taken()) === spent);
    });

    test('a stream that its reader leaves counts what arrived in both', async () => {
      const stream = await clientOf('ann').chat.completions.create({
        ...{ model: 'fake-1', messages: say(5_000), stream: true },
      });
      for await (const _ of stream) break;
      await eventually(async () => (await used('ann')) < COUNTED + 100);
      await eventually(async () => (await taken()) === (await used('ann')));
    });

    test('a call that the provider refuses counts nothing in the budget, and its estimate in the limits', async () => {
      provider.status = 400;
      await expect(whole('ann', 5, 100)).rejects.toThrow(/overloaded/);
      expect([await used('ann'), await taken()]).toEqual([0, COUNTED + 100]);
    });

    test('a cost that cannot be counted leaves the estimate, which is a warning', async () => {
      let calls = 0;
      const cost = () => {
        calls += 1;
        if (calls > 1) throw new Error('no figures');
        return { tokens: 200 };
      };
      const warnings = await warned(async () => {
        const client = clientOf('ann', { cost });
        await client.chat.completions.create({ model: 'fake-1', messages: say(5), max_tokens: 30 });
        await eventually(async () => calls === 2);
        await new Promise(setImmediate);
      });
      expect(warnings).toEqual([expect.stringMatching(/its estimate counts: Error: no figures/)]);
      expect([await used('ann'), await taken()]).toEqual([INPUT + 5, 200]);
    });

    test('models of the AI SDK that send through the upstream take both', async () => {
      const model = wrapLanguageModel({
        model: createOpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1`, fetch: service.fetch })(
          'fake-1',
        ),
        middleware: sluiceMeter(budget, optionsOf('ann')),
      });
      await generateText({ model, prompt: 'Say 40 words', maxOutputTokens: 200 });
      expect(await used('ann')).toBe(INPUT + 40);
      await eventually(async () => (await taken()) === INPUT + 40);
      for await (const _ of streamText({ model, prompt: 'Say 50 words' }).textStream);
      expect(await used('ann')).toBe(2 * INPUT + 90);
      await eventually(async () => (await taken()) === 2 * INPUT + 90);
      await limiter.consume('account:ours', { cost: LIMIT - (await taken()) });
      const error = await rejection(generateText({ model, prompt: 'Say 5 words', maxRetries: 0 }));
      expect(error).toMatchObject({ code: 'SLUICE_RATE_LIMIT_EXCEEDED' });
      expect(await used('ann')).toBe(2 * INPUT + 90);
    });
  });
}
