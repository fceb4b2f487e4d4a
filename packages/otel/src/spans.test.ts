import { context, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { fixedWindow, leakyBucket, ManualClock, memoryStore, RateLimiter, redisStore } from '@sluice/core';
import { CollectedMetrics } from '../../../tests/support/otel.js';
import { redisUrl, uniqueName } from '../../../tests/support/redis-url.js';
import { rejection } from '../../../tests/support/rejection.js';
import { instrument, type Telemetry } from './index.js';

const exporter = new InMemorySpanExporter();
const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
const tracer = provider.getTracer('test');
let metrics: CollectedMetrics;
let telemetry: Telemetry;
beforeAll(() => context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable()));
afterAll(() => context.disable());
beforeEach(() => {
  exporter.reset();
  metrics = new CollectedMetrics();
  telemetry = instrument({ meterProvider: metrics.provider, tracerProvider: provider, spans: true });
});
afterEach(async () => {
  telemetry.close();
  await metrics.shutdown();
});

const within = <T>(work: (parent: Span) => Promise<T>): Promise<T> =>
  tracer.startActiveSpan('request', async (parent) => {
    try {
      return await work(parent);
    } finally {
      parent.end();
    }
  });

const spans = () => exporter.getFinishedSpans().filter(({ name }) => name === 'sluice decide');
const policy = fixedWindow({ limit: 1, window: '1h' });

test('a decision within a span records a child span, and a denial adds an event', async () => {
  const limiter = new RateLimiter({ name: 'api', policy });
  const parent = await within(async (span) => {
    await limiter.consume('ann');
    await limiter.consume('ann');
    await limiter.peek('ann');
    return span;
  });
  const attributes = {
    'sluice.limiter': 'api',
    'sluice.policy': 'api',
    'sluice.source': 'memory',
    'sluice.mode': 'enforce',
    'sluice.remaining': 0,
    'sluice.waited_ms': 0,
  };
  expect(spans()).toMatchObject([
    { attributes: { ...attributes, 'sluice.result': 'allowed', 'sluice.retry_after_ms': 0 }, events: [] },
    {
      kind: SpanKind.INTERNAL,
      parentSpanContext: { spanId: parent.spanContext().spanId },
      attributes: { ...attributes, 'sluice.result': 'denied', 'sluice.retry_after_ms': expect.any(Number) },
      events: [{ name: 'denied' }],
      status: { code: SpanStatusCode.UNSET },
    },
  ]);
});

test('the span of a Redis decision, a wait or an error covers its whole time', async () => {
  const store = redisStore(redisUrl());
  const limiter = new RateLimiter({ name: uniqueName('api'), policy, store, deadline: '10s' });
  const clock = new ManualClock();
  const line = new RateLimiter({
    name: 'line',
    policy: leakyBucket({ capacity: 2, leak: 1, every: '250ms' }),
    store: memoryStore({ clock }),
  });
  const broken = memoryStore();
  broken.decide = () => {
    throw Object.assign(new Error('of ann'), { code: 'BROKEN' });
  };
  await within(async () => {
    const calls = [limiter.consume('ann'), line.acquire('ann'), line.acquire('ann')];
    await clock.advance('250ms');
    await Promise.all(calls);
    await rejection(
      (async () => new RateLimiter({ name: 'broken', policy, store: broken }).consume('ann'))(),
    );
  });
  await store.close();
  const spansOf = (name: string) => spans().filter(({ attributes }) => attributes['sluice.limiter'] === name);
  expect(spansOf(limiter.name)).toMatchObject([
    { attributes: { 'sluice.source': 'redis', 'sluice.result': 'allowed' } },
  ]);
  const [, waited] = spansOf('line');
  expect(waited!.attributes['sluice.waited_ms']).toBeGreaterThan(0);
  expect(spansOf('broken')).toMatchObject([
    {
      attributes: { 'sluice.result': 'error', 'error.type': 'BROKEN' },
      status: { code: SpanStatusCode.ERROR },
    },
  ]);
  expect(
    JSON.stringify(spans().map(({ attributes, status, events }) => [attributes, status, events])),
  ).not.toContain('ann');
});

test('a denial that never ends has no retry_after_ms', async () => {
  const limiter = new RateLimiter({ name: 'shut', policy: fixedWindow({ limit: 0, window: '1h' }) });
  await within(async () => limiter.consume('ann'));
  expect(spans()[0]!.attributes).not.toHaveProperty('sluice.retry_after_ms');
});

test('no span is recorded without a recorded parent, without the option, or after close', async () => {
  const limiter = new RateLimiter({ name: 'api', policy });
  await limiter.consume('ann');
  const unrecorded = trace.wrapSpanContext({
    traceId: '1'.repeat(32),
    spanId: '2'.repeat(16),
    traceFlags: 0,
  });
  await context.with(trace.setSpan(context.active(), unrecorded), async () => limiter.consume('ann'));
  telemetry.close();
  await within(async () => limiter.consume('ann'));
  telemetry = instrument({ meterProvider: metrics.provider, tracerProvider: provider });
  await within(async () => limiter.consume('ann'));
  expect(spans()).toEqual([]);
});

test('a tracer that throws does not change decisions', async () => {
  telemetry.close();
  const startSpan = () => {
    throw new Error('broken');
  };
  const tracerProvider = { getTracer: () => ({ startSpan, startActiveSpan: startSpan }) };
  telemetry = instrument({ meterProvider: metrics.provider, tracerProvider, spans: true });
  const limiter = new RateLimiter({ name: 'api', policy });
  expect(await within(async () => (await limiter.consume('ann')).allowed)).toBe(true);
});
