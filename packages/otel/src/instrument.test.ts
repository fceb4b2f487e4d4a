import { createNoopMeter, DiagLogLevel, diag, type MeterProvider, metrics, trace } from '@opentelemetry/api';
import { fixedWindow, RateLimiter } from '@sluice/core';
import { CollectedMetrics } from '../../../tests/support/otel.js';
import { type InstrumentOptions, instrument } from './index.js';

const policy = fixedWindow({ limit: 1, window: '1h' });
let collected: CollectedMetrics;
beforeEach(() => {
  collected = new CollectedMetrics();
});
afterEach(async () => {
  metrics.disable();
  diag.disable();
  delete process.env.OTEL_SDK_DISABLED;
  delete process.env.OTEL_METRICS_EXPORTER;
  await collected.shutdown();
});

test('without a registered SDK, instrument throws and names the package to install', () => {
  expect(() => instrument()).toThrow(
    'instrument found no OpenTelemetry SDK: install @opentelemetry/sdk-metrics, and call instrument after the SDK has started, or pass its meterProvider',
  );
  expect(() => instrument({ meterProvider: { getMeter: () => createNoopMeter() } })).toThrow(
    'no OpenTelemetry SDK',
  );
});

test('with OTEL_SDK_DISABLED=true, instrument does nothing', () => {
  process.env.OTEL_SDK_DISABLED = 'true';
  instrument().close();
  process.env.OTEL_SDK_DISABLED = 'false';
  expect(() => instrument()).toThrow('no OpenTelemetry SDK');
});

test('instrument starts without metrics if spans are on or OTEL_METRICS_EXPORTER is none', async () => {
  const tracerProvider = { getTracer: jest.fn(() => trace.getTracer('none')) };
  const telemetry = instrument({ tracerProvider, spans: true });
  expect(tracerProvider.getTracer).toHaveBeenCalledTimes(1);
  expect((await new RateLimiter({ name: 'api', policy }).consume('ann')).allowed).toBe(true);
  telemetry.close();
  process.env.OTEL_METRICS_EXPORTER = 'none';
  instrument().close();
});

test('spans without any SDK are refused; a trace SDK alone is enough', () => {
  expect(() => instrument({ spans: true })).toThrow('no OpenTelemetry SDK');
  const tracer = trace.getTracer('none');
  trace.setGlobalTracerProvider({ getTracer: () => tracer });
  instrument({ spans: true }).close();
  trace.disable();
  expect(() => instrument({ spans: true })).toThrow('no OpenTelemetry SDK');
});

test('the global meter provider is the default', async () => {
  metrics.setGlobalMeterProvider(collected.provider);
  const telemetry = instrument();
  await new RateLimiter({ name: 'api', policy }).consume('ann');
  expect(Object.values(await collected.values('sluice.decisions'))).toEqual([1]);
  telemetry.close();
});

test('a second call for one provider throws until the first is closed', async () => {
  const options = { meterProvider: collected.provider };
  const first = instrument(options);
  expect(() => instrument(options)).toThrow(TypeError);
  expect(() => instrument(options)).toThrow('call close() of the first one before');
  first.close();
  first.close();
  const second = instrument(options);
  await new RateLimiter({ name: 'api', policy }).consume('ann');
  expect(Object.values(await collected.values('sluice.decisions'))).toEqual([1]);
  second.close();
  await new RateLimiter({ name: 'api', policy }).consume('ann');
  expect(Object.values(await collected.values('sluice.decisions'))).toEqual([1]);
});

test.each<[unknown, typeof TypeError | typeof RangeError, string]>([
  [
    null,
    TypeError,
    'instrument takes an options object (meterProvider, tracerProvider, spans, maxLimiters), not null',
  ],
  [{ span: true }, TypeError, "instrument has no option 'span'"],
  [{ spans: 'yes' }, TypeError, 'instrument: spans must be true or false, not "yes"'],
  [{ meterProvider: {} }, TypeError, 'instrument: meterProvider must have getMeter()'],
  [{ tracerProvider: null }, TypeError, 'instrument: tracerProvider must have getTracer()'],
  [{ maxLimiters: 0 }, RangeError, 'instrument: maxLimiters must be a whole number from 1'],
])('the options %j are refused', (options, type, message) => {
  expect(() => instrument(options as InstrumentOptions)).toThrow(type);
  expect(() => instrument(options as InstrumentOptions)).toThrow(message);
});

test('a provider that throws does not change decisions, and is reported once', async () => {
  const errors: unknown[][] = [];
  const nothing = () => {};
  const logger = { error: (...args: unknown[]) => void errors.push(args), warn: nothing, info: nothing };
  diag.setLogger({ ...logger, debug: nothing, verbose: nothing }, { logLevel: DiagLogLevel.ERROR });
  const meter = collected.provider.getMeter('broken');
  const record = () => {
    throw new Error('the exporter is broken');
  };
  meter.createHistogram = () => ({ record });
  const meterProvider: MeterProvider = { getMeter: () => meter };
  const telemetry = instrument({ meterProvider });
  const limiter = new RateLimiter({ name: 'api', policy });
  expect((await limiter.consume('ann')).allowed).toBe(true);
  expect((await limiter.consume('ben')).allowed).toBe(true);
  expect(limiter.consumeSync('ann').allowed).toBe(false);
  const other = new RateLimiter({ name: 'other', policy });
  diag.setLogger(
    { ...logger, error: record, debug: nothing, verbose: nothing },
    { logLevel: DiagLogLevel.ERROR, suppressOverrideMessage: true },
  );
  expect((await other.consume('ann')).allowed).toBe(true);
  expect(errors).toEqual([
    [
      '@sluice/otel: a provider failed, and some values are missing',
      expect.objectContaining({ message: 'the exporter is broken' }),
    ],
  ]);
  expect(Object.values(await collected.values('sluice.decisions'))).toEqual([2, 1, 1]);
  telemetry.close();
});

test('a logger that throws does not change decisions', async () => {
  const fail = () => {
    throw new Error('no disk');
  };
  diag.setLogger({ error: fail, warn: fail, info: fail, debug: fail, verbose: fail }, DiagLogLevel.ERROR);
  const meter = collected.provider.getMeter('broken');
  meter.createHistogram = () => ({ record: fail });
  const telemetry = instrument({ meterProvider: { getMeter: () => meter } });
  expect((await new RateLimiter({ name: 'api', policy }).consume('ann')).allowed).toBe(true);
  telemetry.close();
});
