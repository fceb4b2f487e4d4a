import {
  concurrency,
  fixedWindow,
  ManualClock,
  memoryStore,
  type Store,
  StoreUnavailableError,
} from '@sluice/core';
import { like } from '../../../tests/support/like.js';
import { warned } from '../../../tests/support/warned.js';
import { type Lapse, type MeterStreamOptions, meter, meterStream } from './index.js';

/** A provider that sends words, and says at the end what they cost, if it is not aborted. */
function provider(words: number, each = 10) {
  const abort = new AbortController();
  const sent = { words: 0, usage: undefined as { output: number } | undefined };
  async function* chunks() {
    for (; sent.words < words; sent.words += 1) {
      if (abort.signal.aborted) return;
      await new Promise(setImmediate);
      yield 'w '.repeat(each);
    }
    sent.usage = { output: words * each + 1 };
  }
  return { abort, sent, chunks: chunks() };
}

const count = (chunk: string) => chunk.length / 2;
const amountsOf = (output: number) => ({ output });
const axes = { output: fixedWindow({ limit: 1_000, window: '1h' }) };
const store = memoryStore();
afterAll(() => store.close());

let meters = 0;
async function begin(own: Store = store) {
  meters += 1;
  const budget = meter({ name: `stream-${meters}`, store: own, axes });
  const hold = await budget.hold('key', { output: 100 });
  const left = async () => (await budget.status('key')).left.output;
  return { budget, hold, left, options: { count, amountsOf, covered: 100, step: 100 } };
}

async function read(
  { hold, options }: Awaited<ReturnType<typeof begin>>,
  { chunks, abort, sent }: ReturnType<typeof provider>,
  more: Partial<MeterStreamOptions<string, 'output'>> = {},
): Promise<string[]> {
  const read: string[] = [];
  const all = { ...options, abort, used: () => sent.usage, ...more };
  for await (const chunk of meterStream(hold, chunks, all)) read.push(chunk);
  return read;
}

test('a stream within the budget passes whole, and the usage of the provider is settled', async () => {
  const begun = await begin();
  const upstream = provider(50);
  expect(await read(begun, upstream)).toHaveLength(50);
  expect(upstream.abort.signal.aborted).toBe(false);
  expect(await begun.left()).toBe(1_000 - 501);
});

test('a stream ends when the budget ends, with a last chunk, and what arrived is settled by the tokenizer', async () => {
  const begun = await begin();
  const upstream = provider(500);
  const chunks = await read(begun, upstream, { last: ({ axis, limit }) => `stopped: ${axis} of ${limit}` });
  expect(chunks.at(-1)).toBe('stopped: output of 1000');
  expect(chunks).toHaveLength(101);
  expect(upstream.abort.signal.aborted).toBe(true);
  expect(await begun.left()).toBe(0);
});

test('two streams share the rest, and spend at most one chunk each beyond it', async () => {
  const first = await begin();
  const second = { ...first, hold: await first.budget.hold('key', { output: 100 }) };
  await Promise.all([read(first, provider(500)), read(second, provider(500))]);
  expect(await first.left()).toBeLessThanOrEqual(0);
  expect(await first.left()).toBeGreaterThanOrEqual(-20);
});

test('what arrived is settled when the reader leaves, never 0', async () => {
  const { hold, options, left } = await begin();
  const { chunks, abort } = provider(500);
  let seen = 0;
  for await (const _ of meterStream(hold, chunks, { ...options, abort })) {
    seen += 1;
    if (seen === 7) break;
  }
  expect(abort.signal.aborted).toBe(true);
  expect(await left()).toBe(930);
});

test('what arrived is settled when the provider fails, and its error rejects', async () => {
  const { hold, options, left } = await begin();
  async function* failing() {
    yield 'w w ';
    throw new Error('overloaded');
  }
  const all = (async () => {
    for await (const _ of meterStream(hold, failing(), options));
  })();
  await expect(all).rejects.toThrow('overloaded');
  expect(await left()).toBe(998);
});

test.each([
  ['fails', async (stream: AsyncGenerator) => void (await stream.next().then(() => stream.next()))],
  [
    'cannot be returned before its first chunk',
    async (stream: AsyncGenerator) => void (await stream.return(0)),
  ],
])(
  'the error of a provider that %s rejects also when the store is out, which is a warning',
  async (_, read) => {
    const failing = like(store, {
      decide: (call) => {
        if (call.operation === 'settle') throw new StoreUnavailableError('out');
        return store.decide(call);
      },
    });
    const { hold, options } = await begin(failing);
    let sent = 0;
    const fail = async (): Promise<never> => {
      throw new Error('overloaded');
    };
    const next = async () => {
      sent += 1;
      return sent === 1 ? { done: false as const, value: 'w w ' } : fail();
    };
    const chunks = { [Symbol.asyncIterator]: () => ({ next, return: fail }) };
    const warnings = await warned(async () => {
      await expect(read(meterStream(hold, chunks, options))).rejects.toThrow('overloaded');
    });
    expect(warnings).toEqual([
      expect.stringMatching(/^A call that budget 'stream-\d+' pays for .*StoreUnavailableError: out/),
    ]);
  },
);

test('a store that is out ends the stream with its error once the hold is used up', async () => {
  let isOut = false;
  const decide: Store['decide'] = (call) => {
    if (isOut && call.operation === 'hold') throw new StoreUnavailableError('out');
    return store.decide(call);
  };
  const failing: Store = {
    name: 'failing',
    clock: store.clock,
    remote: false,
    decide,
    close: async () => {},
  };
  const begun = await begin(failing);
  isOut = true;
  const upstream = provider(500);
  await expect(read(begun, upstream)).rejects.toThrow(StoreUnavailableError);
  expect(upstream.sent.words).toBeLessThan(11);
  expect(await begun.left()).toBe(900);
});

test('an outage that is over ends no stream', async () => {
  let failures = 1;
  const decide: Store['decide'] = (call) => {
    if (call.operation === 'hold' && call.parts[1]!.cost > 100 && failures > 0) {
      failures -= 1;
      throw new StoreUnavailableError('out', { neverSent: true });
    }
    return store.decide(call);
  };
  const begun = await begin({
    name: 'flaky',
    clock: store.clock,
    remote: false,
    decide,
    close: async () => {},
  });
  expect(await read(begun, provider(50))).toHaveLength(50);
  expect(failures).toBe(0);
});

test('a denial of an earlier moment is tried again before it ends a stream', async () => {
  const { budget, hold, options } = await begin();
  const other = await budget.hold('key', { output: 900 });
  const upstream = provider(30);
  const read: string[] = [];
  for await (const chunk of meterStream(hold, upstream.chunks, {
    ...options,
    step: 1,
    abort: upstream.abort,
  })) {
    read.push(chunk);
    if (read.length === 9) await other.cancel(); // more was denied at the eighth
  }
  expect(read).toHaveLength(30);
});

test('return aborts a provider that stalls, and settles what arrived', async () => {
  const { hold, options, left } = await begin();
  const abort = new AbortController();
  async function* stalling() {
    yield 'w '.repeat(10);
    await new Promise((_, fail) => abort.signal.addEventListener('abort', () => fail(abort.signal.reason)));
  }
  const stream = meterStream(hold, stalling(), { ...options, abort });
  await stream.next();
  const stalled = stream.next();
  const returned = stream.return();
  await expect(stalled).rejects.toMatchObject({ name: 'AbortError' });
  await returned;
  expect(await left()).toBe(990);
});

test('what arrived is settled when return aborts a provider that then ends without an error', async () => {
  const { hold, options, left } = await begin();
  const abort = new AbortController();
  async function* ending() {
    yield 'w '.repeat(10);
    await new Promise((ended) => abort.signal.addEventListener('abort', ended));
  }
  const used = () => ({ output: 1 }); // the figure of its begin
  const stream = meterStream(hold, ending(), { ...options, abort, used });
  await stream.next();
  void stream.next();
  await stream.return();
  expect(await left()).toBe(990);
});

describe('with isComplete', () => {
  /** A provider whose first figure is not final. */
  function figured(ends: boolean) {
    let last = false;
    async function* chunks() {
      yield 'w '.repeat(10);
      last = ends;
      yield '';
    }
    return { chunks: chunks(), used: () => ({ output: last ? 500 : 1 }), isComplete: () => last };
  }

  test.each([
    ['the counted tokens are settled if the stream ends before its last event', false, 990],
    ['the figures are settled if the last event came', true, 500],
  ])('%s', async (_, ends, rest) => {
    const { hold, options, left } = await begin();
    const { chunks, ...own } = figured(ends);
    for await (const _ of meterStream(hold, chunks, { ...options, ...own }));
    expect(await left()).toBe(rest);
  });

  test('the figures are settled if the reader leaves after the last event', async () => {
    const { hold, options, left } = await begin();
    const { chunks, ...own } = figured(true);
    const stream = meterStream(hold, chunks, { ...options, ...own });
    await stream.next();
    await stream.next();
    await stream.return();
    expect(await left()).toBe(500);
  });

  test('the counted tokens are settled without used', async () => {
    const { hold, options, left } = await begin();
    const { chunks, isComplete } = figured(true);
    for await (const _ of meterStream(hold, chunks, { ...options, isComplete }));
    expect(await left()).toBe(990);
  });
});

test('one call to the store holds as much as a step', async () => {
  let calls = 0;
  const decide: Store['decide'] = (call) => {
    calls += 1;
    return store.decide(call);
  };
  const counting: Store = {
    name: 'counting',
    clock: store.clock,
    remote: false,
    decide,
    close: async () => {},
  };
  const begun = await begin(counting);
  await read(begun, provider(65), { step: 256 });
  expect(calls).toBe(1 + 3 + 1); // hold, more for each 256 tokens, settle
});

test('the rest of a budget that has no room for a whole step is used', async () => {
  const begun = await begin();
  await read(begun, provider(500), { step: 256 });
  const left = (await begun.left())!;
  expect(left).toBeGreaterThanOrEqual(-10);
  expect(left).toBeLessThan(32);
});

test('a stream that its reader cancels before the first chunk is settled, and the request is aborted', async () => {
  const { hold, options, left } = await begin();
  const { chunks, abort } = provider(500);
  await meterStream(hold, chunks, { ...options, abort }).return();
  expect(abort.signal.aborted).toBe(true);
  expect(await left()).toBe(1_000);
});

test.each<[string, () => { output: number } | undefined]>([
  [
    'throws',
    () => {
      throw new Error('no usage');
    },
  ],
  ['returns no whole numbers', () => ({ output: Number.NaN })],
])('the counted tokens are settled when used %s, and its error rejects', async (_, used) => {
  const begun = await begin();
  await expect(read(begun, provider(5), { used })).rejects.toThrow(/no usage|settle: output must be a whole/);
  expect(await begun.left()).toBe(950);
});

test('the held amounts are settled when amountsOf throws, and its error rejects', async () => {
  const begun = await begin();
  const amountsOf = () => {
    throw new Error('no price');
  };
  await expect(read(begun, provider(5), { used: undefined, amountsOf })).rejects.toThrow('no price');
  expect(await begun.left()).toBe(900);
  await expect(begun.hold.renew()).rejects.toThrow(/was settled/);
});

test('the chunks are returned when the reader cancels before the first one', async () => {
  const { hold, options, left } = await begin();
  let returned = 0;
  const chunks = {
    [Symbol.asyncIterator]: () => ({
      next: async () => ({ done: false as const, value: 'w ' }),
      return: async () => {
        returned += 1;
        return { done: true as const, value: undefined };
      },
    }),
  };
  await meterStream(hold, chunks, options).return();
  expect(returned).toBe(1);
  expect(await left()).toBe(1_000);
});

describe('the hold of a stream', () => {
  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask', 'performance'] });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  async function beginAt(
    chunks: AsyncIterable<string>,
    more: { last?: () => string; abort?: AbortController; lapse?: Lapse } = {},
  ) {
    const clock = new ManualClock();
    const own = memoryStore({ clock });
    const limits = { ...axes, running: concurrency({ limit: 8 }) };
    const { lapse } = more;
    const budget = meter({ name: 'renewed', store: own, axes: limits, ttl: '30s', lapse });
    const hold = await budget.hold('key', { output: 100 });
    const timers = jest.getTimerCount();
    const { last, abort } = more;
    const stream = meterStream(hold, chunks, { count, amountsOf, covered: 100, step: 100, last, abort });
    /** In steps, so that timers and the clock of the store go together. */
    const pass = async (seconds: number) => {
      for (let second = 0; second < seconds; second += 1) {
        await clock.advance('1s');
        await jest.advanceTimersByTimeAsync(1_000);
      }
    };
    const state = async () => {
      const { left } = await budget.status('key');
      return { used: 1_000 - left.output!, running: 8 - left.running! };
    };
    const close = () => Promise.all([budget.close(), own.close()]);
    return { budget, clock, stream, pass, state, close, timersOfStream: () => jest.getTimerCount() - timers };
  }

  test('is renewed while the reader waits for the provider', async () => {
    let send = () => {};
    async function* slow() {
      yield 'w ';
      await new Promise<void>((resolve) => {
        send = resolve;
      });
      yield 'w ';
    }
    const { stream, pass, state, close } = await beginAt(slow());
    await stream.next();
    const second = stream.next();
    await pass(150);
    expect(await state()).toEqual({ used: 100, running: 1 });
    send();
    expect(await second).toEqual({ done: false, value: 'w ' });
    await stream.return();
    expect(await state()).toEqual({ used: 2, running: 0 });
    await close();
  });

  test('lapses when the reader stops without a return, and no timer is left', async () => {
    const { stream, pass, state, close, timersOfStream } = await beginAt(provider(50).chunks);
    await stream.next();
    await pass(30);
    expect(await state()).toEqual({ used: 100, running: 1 });
    await pass(45);
    expect(await state()).toEqual({ used: 100, running: 0 });
    expect(timersOfStream()).toBe(0);
    await close();
  });

  test('lapses also when the reader stops at the last chunk', async () => {
    const last = () => 'stopped';
    const { stream, pass, state, close, timersOfStream } = await beginAt(provider(500).chunks, { last });
    for (;;) {
      const { value } = await stream.next();
      if (value === 'stopped') break;
    }
    await pass(75);
    expect(await state()).toEqual({ used: 1_000, running: 0 });
    expect(timersOfStream()).toBe(0);
    await close();
  });

  test('ends the stream when it has lapsed and other calls have taken its amounts', async () => {
    let send = () => {};
    async function* slow() {
      for (;;) {
        yield 'w ';
        await new Promise<void>((resolve) => {
          send = resolve;
        });
      }
    }
    const abort = new AbortController();
    const last = () => 'stopped';
    const begun = await beginAt(slow(), { last, abort, lapse: 'refund' });
    const { budget, clock, stream, pass, state, close } = begun;
    await stream.next();
    await clock.advance('40s'); // the event loop was blocked
    const other = await budget.hold('key', { output: 950 });
    const second = stream.next();
    await pass(11);
    send();
    expect(await second).toEqual({ done: false, value: 'w ' });
    expect(await stream.next()).toEqual({ done: false, value: 'stopped' });
    expect(await stream.next()).toMatchObject({ done: true });
    expect(abort.signal.aborted).toBe(true);
    await other.cancel();
    expect(await state()).toEqual({ used: 2, running: 0 });
    await close();
  });

  test('goes on when it has lapsed and its amounts fit again', async () => {
    const begun = await beginAt(provider(3).chunks, { lapse: 'refund' });
    const { budget, clock, stream, pass, state, close } = begun;
    await stream.next();
    await clock.advance('40s');
    const other = await budget.hold('key', { output: 950 });
    await pass(11);
    await other.cancel();
    await pass(11);
    expect(await stream.next()).toMatchObject({ done: false });
    expect(await stream.next()).toMatchObject({ done: false });
    expect(await stream.next()).toMatchObject({ done: true });
    expect(await state()).toEqual({ used: 30, running: 0 });
    await close();
  });

  test('is renewed again when the reader comes back within two times its ttl', async () => {
    const { stream, pass, state, close, timersOfStream } = await beginAt(provider(3).chunks);
    await stream.next();
    await pass(59);
    await stream.next();
    await pass(20);
    expect(await state()).toEqual({ used: 100, running: 1 });
    expect(await stream.next()).toMatchObject({ done: false });
    expect(await stream.next()).toMatchObject({ done: true });
    expect(await state()).toEqual({ used: 30, running: 0 });
    expect(timersOfStream()).toBe(0);
    await close();
  });
});

test('bad options are refused at once', async () => {
  const { hold, options } = await begin();
  const stream = (given: object) => () => meterStream(hold, provider(1).chunks, { ...options, ...given });
  expect(stream({ count: 5 })).toThrow(/count must be a function/);
  expect(stream({ step: 0 })).toThrow(/step must be a whole number/);
  expect(stream({ covered: -1 })).toThrow(/covered must be a whole number/);
});
