import { type DebianProgram, obtainProgram } from './debian.ts';

/** Checks rules and configurations of Prometheus. @throws Error when there is none */
export const promtool = (): Promise<DebianProgram> => obtainProgram('promtool', 'prometheus');

/** Serves the metrics of a Redis to Prometheus. @throws Error if there is no Redis */
export const redisExporter = (): Promise<DebianProgram> =>
  obtainProgram('prometheus-redis-exporter', 'prometheus-redis-exporter');
