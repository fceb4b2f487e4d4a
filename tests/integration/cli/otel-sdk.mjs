// Loaded with --import: the SDK that a service has around `sluice serve --otel`. Its /metrics are on METRICS_PORT.
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';

const exporter = new PrometheusExporter({ host: '127.0.0.1', port: Number(process.env.METRICS_PORT) });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] }));
