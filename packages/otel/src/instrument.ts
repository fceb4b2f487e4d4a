import {
  createNoopMeter,
  diag,
  type Meter,
  type MeterProvider,
  metrics,
  ProxyTracerProvider,
  type TracerProvider,
  trace,
} from '@opentelemetry/api';
import { subscribe, type TelemetryChannel, type TelemetryMessages } from '@sluice/core';
import { checkBoolean, checkInteger, checkOptions, describe, sharedByCopies } from '@sluice/core/internal';
import { AttributeNames } from './attributes.js';
import { Budgets } from './budgets.js';
import { Decisions } from './decisions.js';
import { Escalations } from './escalations.js';
import { Leases } from './leases.js';
import { Pauses } from './pauses.js';
import { Refunds } from './refunds.js';
import type { AnySeries } from './series.js';
import { traceDecisions } from './spans.js';
import { Stores } from './stores.js';
import { Waits } from './waits.js';

const SCOPE = '@sluice/otel';
const OPTIONS = ['meterProvider', 'tracerProvider', 'spans', 'maxLimiters'];

export interface InstrumentOptions {
  /** Receives the metrics. Default: the global one of `@opentelemetry/api`. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Receives the spans. Default: the global one of `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** A span `sluice decide` for each decision within a span that is recorded. Default: false. */
  readonly spans?: boolean | undefined;
  /** The most limiters with their own time series. Limiters with later names count as `other`. Default: 200. */
  readonly maxLimiters?: number | undefined;
}

/** The result of `instrument`. */
export interface Telemetry {
  /** Ends all metrics and spans. Can be called twice. */
  close(): void;
}

const instrumented = sharedByCopies('otel', () => new WeakSet<MeterProvider>());

/**
 * Reports the calls of all limiters and stores of this process to OpenTelemetry. Call it once, after the SDK has started. Does nothing if
 * OTEL_SDK_DISABLED is true. Without an SDK for metrics it makes spans alone, if
 * `spans` is true and an SDK for traces is registered, or if OTEL_METRICS_EXPORTER is none.
 * @throws Error if no SDK is registered; TypeError for an unknown option or a second call for the same meter provider; RangeError for
 *   `maxLimiters`
 */
export function instrument(options: InstrumentOptions = {}): Telemetry {
  checkOptions('instrument', options, OPTIONS);
  const {
    meterProvider = metrics.getMeterProvider(),
    tracerProvider = trace.getTracerProvider(),
    spans,
    maxLimiters = 200,
  } = options;
  checkProvider('meterProvider', meterProvider, 'getMeter');
  checkProvider('tracerProvider', tracerProvider, 'getTracer');
  checkBoolean('instrument: spans', spans);
  checkInteger('instrument: maxLimiters', maxLimiters, 1);
  if (process.env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true') return { close() {} };
  if (instrumented.has(meterProvider)) {
    throw new TypeError(
      'instrument was already called for this meterProvider, and everything would be counted twice: call close() of the first one before',
    );
  }
  const meter = meterProvider.getMeter(SCOPE);
  const counts = meter !== createNoopMeter();
  const isTraced = spans === true && hasSdk(tracerProvider);
  if (!counts && !isTraced && process.env.OTEL_METRICS_EXPORTER?.trim().toLowerCase() !== 'none') {
    throw new Error(
      'instrument found no OpenTelemetry SDK: install @opentelemetry/sdk-metrics, and call instrument after the SDK has started, or pass its meterProvider',
    );
  }
  const telemetry = new Instrumentation();
  if (counts) telemetry.count(meter, maxLimiters);
  if (spans === true) telemetry.trace(tracerProvider);
  instrumented.add(meterProvider);
  telemetry.endings.push(() => instrumented.delete(meterProvider));
  return { close: () => telemetry.close() };
}

/** `@opentelemetry/api` forwards to the SDK through a proxy, which has no tracer until an SDK is registered. */
function hasSdk(provider: TracerProvider): boolean {
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer(SCOPE) !== undefined;
}

function checkProvider(what: string, provider: unknown, method: string): void {
  if (typeof (provider as Record<string, unknown> | null)?.[method] === 'function') return;
  throw new TypeError(
    `instrument: ${what} must have ${method}(), as those of OpenTelemetry do, not be ${describe(provider)}`,
  );
}

class Instrumentation {
  readonly endings: (() => unknown)[] = [];
  #hasFailed = false;

  count(meter: Meter, maxLimiters: number): void {
    const names = new AttributeNames(maxLimiters);
    const waits = new Waits(meter, names);
    const decisions = new Decisions(meter, names, (message) => waits.has(message));
    const leases = new Leases(meter, names);
    const escalations = new Escalations(meter, names);
    const pauses = new Pauses(meter, names);
    const refunds = new Refunds(meter, names);
    const budgets = new Budgets(meter, names);
    const stores = new Stores(meter, names);
    this.#observe(
      meter,
      [decisions, waits, leases, escalations, pauses, refunds, budgets, stores].flatMap(
        ({ series }) => series,
      ),
    );
    this.#subscribe('sluice:decision', (message) => decisions.count(message));
    this.#subscribe('sluice:wait', (message) => waits.count(message));
    this.#subscribe('sluice:lease', (message) => leases.count(message));
    this.#subscribe('sluice:escalated', (message) => escalations.count(message));
    this.#subscribe('sluice:pause', (message) => pauses.count(message));
    this.#subscribe('sluice:refund', (message) => refunds.count(message));
    this.#subscribe('sluice:hold', (message) => budgets.count(message));
    this.#subscribe('sluice:store-call', (message) => stores.called(message));
    this.#subscribe('sluice:degraded', (event) => stores.degraded(event));
    this.#subscribe('sluice:recovered', (event) => stores.recovered(event));
  }

  trace(provider: TracerProvider): void {
    this.endings.push(traceDecisions(provider.getTracer(SCOPE), (subscriber) => this.#guarded(subscriber)));
  }

  close(): void {
    for (const end of this.endings.splice(0)) end();
  }

  /** Counts are observed when metrics are collected: an `add` for each decision would cost more than counting it. */
  #observe(meter: Meter, series: readonly AnySeries[]): void {
    const instruments = series.map(({ instrument }) => instrument);
    const observe = (result: Parameters<Parameters<Meter['addBatchObservableCallback']>[0]>[0]) => {
      for (const each of series) each.observe(result);
    };
    meter.addBatchObservableCallback(observe, instruments);
    this.endings.push(() => meter.removeBatchObservableCallback(observe, instruments));
  }

  #subscribe<Name extends TelemetryChannel>(
    name: Name,
    listener: (message: TelemetryMessages[Name]) => void,
  ): void {
    this.endings.push(subscribe(name, this.#guarded(listener)));
  }

  /** Subscribers run within decisions, and their errors would be uncaught exceptions. */
  #guarded<Message>(subscriber: (message: Message) => void): (message: Message) => void {
    return (message) => {
      try {
        subscriber(message);
      } catch (error) {
        this.#failed(error);
      }
    };
  }

  /** Reports the first error only: the same one would follow with every decision. */
  #failed(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    try {
      diag.error(`${SCOPE}: a provider failed, and some values are missing`, error);
    } catch {
      // A logger that throws must not end the decision.
    }
  }
}
