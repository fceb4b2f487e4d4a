import { createServer, type Server } from 'node:http';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { logDenials } from '@sluice/fleet';
import { instrument } from '@sluice/otel';

/** Metrics of all limiters of this process, and a log line for denials. Returns a server of `/metrics`, which does not listen yet. */
export function createTelemetry(): Server {
  const exporter = new PrometheusExporter({ preventServerStart: true, withoutScopeInfo: true });
  const telemetry = instrument({ meterProvider: new MeterProvider({ readers: [exporter] }) });
  const stopLogging = logDenials(console, { sample: 100 });
  const server = createServer((request, response) => exporter.getMetricsRequestHandler(request, response));
  server.once('close', () => {
    telemetry.close();
    stopLogging();
  });
  return server;
}
