import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parse } from 'yaml';
import { read } from './queries.js';

interface Service {
  readonly image: string;
  readonly profiles: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly network_mode?: string;
}

const root = resolve(__dirname, '../../..');
const { services } = parse(readFileSync(join(root, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>;
};
const all = Object.values(services);

test('the profile has the services that the dashboard needs', () => {
  const started = Object.keys(services).filter((name) => services[name]!.profiles.includes('observability'));
  expect(started.sort()).toEqual(['grafana', 'prometheus', 'redis', 'redis-exporter']);
});

test('every port is published only on 127.0.0.1', () => {
  const ports = all.flatMap(({ ports = [] }) => ports);
  expect(ports.length).toBeGreaterThan(8);
  expect(ports.filter((port) => !/^127\.0\.0\.1:\d+:\d+$/.test(port))).toEqual([]);
  expect(new Set(ports.map((port) => port.split(':')[1])).size).toBe(ports.length);
  expect(all.filter(({ network_mode }) => network_mode === 'host')).toEqual([]);
});

test('every image has a version', () => {
  expect(all.filter(({ image }) => !/^[\w/]+:v?\d+\.\d+(?:\.\d+)?(?:-alpine)?$/.test(image))).toEqual([]);
});

test('every mounted file exists, and is mounted read-only', () => {
  const mounted = all.flatMap(({ volumes = [] }) => volumes).map((volume) => volume.split(':'));
  expect(mounted.length).toBeGreaterThan(0);
  for (const [path, , mode] of mounted) expect([existsSync(join(root, path!)), mode]).toEqual([true, 'ro']);
});

test('Prometheus and Grafana call services that exist', () => {
  const { scrape_configs } = parse(read('prometheus.yml'));
  const { datasources } = parse(read('grafana/provisioning/datasources/prometheus.yml'));
  const targets = scrape_configs.flatMap(({ static_configs }: { static_configs: { targets: string[] }[] }) =>
    static_configs.flatMap(({ targets }) => targets),
  );
  const urls = [
    ...targets.map((target: string) => `http://${target}`),
    ...datasources.map(({ url }: { url: string }) => url),
  ];
  const hosts = urls.map((url) => new URL(url).hostname);
  expect(hosts.sort()).toEqual(['host.docker.internal', 'prometheus', 'redis-exporter']);
  expect(Object.keys(services)).toEqual(expect.arrayContaining(['prometheus', 'redis-exporter']));
});

test('Grafana reads the folder into which the dashboard is mounted', () => {
  const { providers } = parse(read('grafana/provisioning/dashboards/sluice.yml'));
  const dashboards = services.grafana!.volumes!.find((volume) => volume.includes('grafana-dashboard.json'))!;
  expect(dashboards).toContain(`:${providers[0].options.path}/`);
});
