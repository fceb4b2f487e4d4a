import type { Attributes } from '@opentelemetry/api';
import {
  AggregationTemporality,
  type Histogram,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

/** OpenTelemetry's SDK, with its in-memory exporter. */
export class CollectedMetrics {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({
    exporter: this.#exporter,
    exportIntervalMillis: 3_600_000,
  });
  readonly provider = new MeterProvider({ readers: [this.#reader] });

  /** Collects the metrics. @returns the name of each metric with its data points */
  async collect(): Promise<ReadonlyMap<string, readonly Point[]>> {
    await new Promise(setImmediate); // metrics are recorded after their turn
    this.#exporter.reset();
    await this.#reader.forceFlush();
    const all = this.#exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics);
    return new Map(
      all
        .flatMap(({ metrics }) => metrics)
        .map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints as readonly Point[]]),
    );
  }

  /** Collects the values of one metric, or counts of a histogram, by their attributes: `{ "limiter=api result=denied": 3 }`. */
  async values(name: string): Promise<Record<string, number>> {
    const points = (await this.collect()).get(name) ?? [];
    return Object.fromEntries(
      points.map(({ attributes, value }) => [
        label(attributes),
        typeof value === 'number' ? value : value.count,
      ]),
    );
  }

  async shutdown(): Promise<void> {
    await this.provider.shutdown();
  }
}

export interface Point {
  readonly attributes: Attributes;
  readonly value: number | Histogram;
}

/** Attributes as one line, without `sluice.`. */
export const label = (attributes: Attributes): string =>
  Object.entries(attributes)
    .map(([name, value]) => `${name.replace('sluice.', '')}=${value}`)
    .join(' ');
