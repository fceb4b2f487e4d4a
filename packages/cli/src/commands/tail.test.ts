import {
  CombinedLimiter,
  concurrency,
  fixedWindow,
  memoryStore,
  RateLimiter,
  type Store,
} from '@sluice/core';
import { isBudgetExceededError, meter } from '@sluice/meter';
import { eventually } from '../../../../tests/support/eventually.js';
import type { Context } from '../command.js';
import { Notes } from '../notes.js';
import { Output } from '../output.js';
import { tail } from './tail.js';

/** Waits for a definition with this text. */
const published = (store: Store, part: string) =>
  eventually(async () => (await store.fleet!.read('definitions')).some(({ text }) => text.includes(part)));

/** @param texts gets the printed texts @param gate holds up the answers of the store */
const contextOf = (store: Store, texts: string[], gate = Promise.resolve()): Context =>
  ({
    store,
    output: new Output({ write: (text: string) => texts.push(text) }, true, {}, false),
    notes: new Notes({ write: (text: string) => texts.push(text) }, {}),
    signal: new AbortController().signal,
    ask: async <T>(answer: Promise<T>) => {
      await gate;
      return answer;
    },
  }) as unknown as Context;

test('tail subscribes before the limiters are read, and names the limiter of a combination', async () => {
  const store = memoryStore();
  const policy = fixedWindow({ limit: 0, window: '1h' });
  const api = new RateLimiter({ name: 'rules.api', policy, store });
  const rules = new CombinedLimiter({ api }, { name: 'rules' });
  await rules.consume({ api: 'ann' });
  await published(store, 'members');
  const follow = jest.spyOn(store.fleet!, 'follow');
  let open = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const texts: string[] = [];
  const context = contextOf(store, texts, gate);
  const ended = tail.run(context, ['rules.api'], { count: '1' });
  expect(follow).toHaveBeenCalledTimes(1);
  await rules.consume({ api: 'ann' });
  open();
  expect(await ended).toBe(0);
  expect(texts.map((text) => JSON.parse(text))).toMatchObject([
    { limiter: 'rules.api', policy: 'rules.api', combination: 'rules', key: 'ann' },
  ]);
  await Promise.all([rules.close(), api.close()]);
  await store.close();
});

test('tail shows the denials of a budget under the names of its axes', async () => {
  const store = memoryStore();
  const axes = { usd: fixedWindow({ limit: 100, window: '1h' }), running: concurrency({ limit: 1 }) };
  const budget = meter({ name: 'ai', store, axes, scopes: (user: string) => [`user:${user}`] });
  const texts: string[] = [];
  const context = contextOf(store, texts);
  const hold = await budget.hold('ann', { usd: 1 });
  await published(store, 'user');
  const ended = tail.run(context, ['ai'], { count: '2' });
  const denied = async (usd: number) => {
    const error: unknown = await budget.hold('ann', { usd }).catch((reason: unknown) => reason);
    expect(isBudgetExceededError(error)).toBe(true);
  };
  for (let time = 0; time < 2; time += 1) await denied(101);
  await denied(5); // another call is running
  expect(await ended).toBe(0);
  expect(texts.map((text) => JSON.parse(text))).toMatchObject([
    {
      ...{ limiter: 'ai:usd', policy: 'ai:usd', combination: 'ai', key: 'user:ann', cost: 101, count: 2 },
      ...{ mode: 'enforce', degraded: false, source: 'memory', retryAfter: null },
    },
    { limiter: 'ai:running', combination: 'ai', key: 'user:ann', cost: 1, count: 1 },
  ]);
  expect(await hold.more({ usd: 200 })).toBe(false);
  await hold.cancel();
  await budget.close();
  await store.close();
});
