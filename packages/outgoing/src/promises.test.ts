import {
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  RateLimiter,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '@sluice/core';
import fc from 'fast-check';
import { refused, retryAfter, ScriptedUpstream } from '../../../tests/support/outgoing/scripted.js';
import { rejection } from '../../../tests/support/rejection.js';
import { runs } from '../../../tests/support/runs.js';
import { within } from '../../../tests/support/within.js';
import { onDeparture } from './budget/budget.js';
import { standardHeaders } from './index.js';

const account = { reads: [standardHeaders({ scope: 'account' })], retry: false } as const;

test('a pause never becomes shorter, in whatever order replies arrive', async () => {
  const replies = fc.array(fc.record({ seconds: fc.nat(900), delay: fc.nat(5_000) }), {
    minLength: 1,
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(replies, async (all) => {
      const up = new ScriptedUpstream();
      up.answer = async ({ number }) => {
        const { seconds, delay } = all[number - 1]!;
        await up.clock.sleep(delay * 1000);
        return retryAfter(seconds);
      };
      const clients = all.map(() => up.client(account));
      const inFlight = clients.map((client) => client.fetch('/a'));
      let until = 0;
      for (let ms = 0; ms <= 5_000; ms += 250) {
        await up.clock.advance(250);
        const [pause] = await clients[0]!.state();
        const now = up.clock.now() / 1000;
        if (until > now + 2) expect(pause?.until ?? 0).toBeGreaterThanOrEqual(until - 2);
        until = Math.max(until, pause?.until ?? 0);
      }
      await Promise.all(inFlight);
      await up.close();
    }),
    runs(60),
  );
});

test('no header lets more calls pass than the limits do', async () => {
  const headers = fc.array(fc.record({ remaining: fc.integer({ min: -5, max: 50 }), limit: fc.nat(100) }), {
    minLength: 12,
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(headers, async (all) => {
      const up = new ScriptedUpstream();
      up.answer = ({ number }) => {
        const { remaining, limit } = all[number - 1]!;
        return new Response('ok', {
          headers: { ratelimit: `"p";r=${remaining};t=1`, 'ratelimit-policy': `"p";q=${limit};w=60` },
        });
      };
      const limits = { requests: tokenBucket({ capacity: 8, refill: 1, every: '1d' }) };
      const client = up.client({ ...account, limits, timeout: 0 });
      for (let i = 0; i < 12; i += 1) await rejection(client.fetch('/a'));
      expect(up.log.length).toBeLessThanOrEqual(8);
      // And never more than the least that a response stated, and the calls before it.
      all.slice(0, up.log.length).forEach(({ remaining }, i) => {
        if (remaining >= 0) expect(up.log.length).toBeLessThanOrEqual(i + 1 + remaining);
      });
      await up.close();
    }),
    runs(60),
  );
});

test('no header raises what any process believes of a budget: neither its rest nor its size', async () => {
  const policies: readonly Policy[] = [
    fixedWindow({ limit: 30, window: '1m' }),
    slidingLog({ limit: 30, window: '1m' }),
    slidingWindow({ limit: 30, window: '1m' }),
    tokenBucket({ capacity: 30, refill: 30, every: '1m' }),
    leakyBucket({ capacity: 30, leak: 30, every: '1m' }),
    gcra({ limit: 30, period: '1m' }),
  ];
  const figure = (most: number) => fc.option(fc.integer({ min: -5, max: most }), { nil: undefined });
  const header = fc.record({ remaining: figure(60), limit: figure(60), window: figure(120) });
  const plan = fc.record({
    policy: fc.constantFrom(...policies),
    headers: fc.array(header, { minLength: 1, maxLength: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ policy, headers }) => {
      const up = new ScriptedUpstream();
      up.answer = ({ number }) => {
        const { remaining, limit, window } = headers[number - 1]!;
        const policyText = [
          `"p"`,
          limit !== undefined && `q=${limit}`,
          window !== undefined && `w=${window}`,
        ];
        const state = ['"p"', remaining !== undefined && `r=${remaining}`].filter(Boolean).join(';');
        return new Response('ok', {
          headers: { ratelimit: state, 'ratelimit-policy': policyText.filter(Boolean).join(';') },
        });
      };
      const options = { ...account, limits: { requests: policy }, timeout: 0 };
      const clients = [up.client(options), up.client(options)];
      const books = new RateLimiter({
        name: 'fake:requests',
        policy: onDeparture(policy),
        store: up.store,
        hashTag: 'fake',
      });
      const believed = () => books.peek('account:', { cost: 0 });
      let before = await believed();
      for (let i = 0; i < headers.length; i += 1) {
        const sent = up.log.length;
        await rejection(clients[i % 2]!.fetch('/a'));
        const after = await believed();
        expect(after.limit).toBeLessThanOrEqual(before.limit);
        expect(after.remaining).toBeLessThanOrEqual(before.remaining);
        const { remaining = -1, window = 60 } = headers[sent]!;
        if (up.log.length > sent && remaining >= 0 && window >= 0 && window <= 60)
          expect(after.remaining).toBeLessThanOrEqual(remaining);
        before = after;
      }
      await books.close();
      await up.close();
    }),
    runs(100),
  );
});

test('no wait outlives its signal, wherever the call waits', async () => {
  const plan = fc.record({
    abortAt: fc.nat(3_000),
    seconds: fc.integer({ min: 1, max: 20 }),
    calls: fc.integer({ min: 1, max: 40 }),
    isDown: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(plan, async ({ abortAt, seconds, calls, isDown }) => {
      const up = new ScriptedUpstream();
      const answer = () => (isDown ? refused(503) : new Response('ok'));
      up.answer = ({ number }) => (number % 5 === 3 && !isDown ? retryAfter(seconds) : answer());
      const limits = { requests: slidingLog({ limit: 3, window: '1s' }) };
      const client = up.client({ ...account, limits, concurrency: 2, timeout: '1h', retry: {} });
      const abort = new AbortController();
      const results = Array.from({ length: calls }, () =>
        client.fetch('/a', { signal: abort.signal }).then(
          (response) => response.text(),
          () => 'ended',
        ),
      );
      await up.clock.advance(abortAt + 1);
      abort.abort();
      await within(Promise.all(results), 'all calls end');
      await up.close();
    }),
    runs(40),
  );
});
