import { MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

/** As when Prometheus scrapes: nothing is exported while it measures. */
class IdleReader extends MetricReader {
  async onShutdown() {}
  async onForceFlush() {}
}

/** Who subscribes. `begin` subscribes and returns what ends that. */
export async function modes({ subscribe }) {
  const { instrument } = await import(process.env.SLUICE_BENCH_OTEL ?? '@sluice/otel');
  const otel = (spans) => () => {
    const meterProvider = new MeterProvider({ readers: [new IdleReader()] });
    const telemetry = instrument({ meterProvider, spans });
    return () => telemetry.close();
  };
  let seen = 0;
  const count = () => {
    seen += 1;
  };
  const one = () => {
    const stop = subscribe('sluice:decision', count);
    return () => {
      stop();
      if (seen === 0) throw new Error('the subscriber was not called');
      seen = 0;
    };
  };
  return [
    { id: 'none', begin: () => () => {} },
    { id: 'again', begin: () => () => {} },
    { id: 'decision', begin: one },
    { id: 'otel', begin: otel(false) },
    { id: 'spans', begin: otel(true) },
  ];
}
