import { type DebianProgram, debianProgram, works } from './debian.ts';

async function obtain(program: string, debianPackage: string): Promise<DebianProgram> {
  const installed = { command: program, env: {} };
  if (await works(installed)) return installed;
  const obtained = await debianProgram({
    cache: `sluice-${program}`,
    packages: [debianPackage],
    libraries: false,
    programs: [program],
  });
  if (typeof obtained !== 'string') return obtained;
  throw new Error(`This test needs ${program}: install ${debianPackage} (${obtained})`);
}

/** Checks rules and configurations of Prometheus: of PATH, our cache, or apt. @throws Error when there is none */
export const promtool = (): Promise<DebianProgram> => obtain('promtool', 'prometheus');

/** Serves the figures of a Redis for Prometheus: of PATH, our cache, or apt. @throws Error when there is none */
export const redisExporter = (): Promise<DebianProgram> =>
  obtain('prometheus-redis-exporter', 'prometheus-redis-exporter');
