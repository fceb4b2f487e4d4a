import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';

const LIBRARIES = [
  'ioredis',
  'rate-limiter-flexible',
  'express-rate-limit',
  'rate-limit-redis',
  '@fastify/rate-limit',
  '@upstash/ratelimit',
  'koa-ratelimit',
];

/** The machine and Node. */
export const hardwareText = () =>
  `${cpus().length} cores (${cpus()[0].model}), Node ${process.versions.node}`;

/** The machine, and the versions of the contenders. */
export function machineText(redisVersion) {
  const versions = LIBRARIES.map((name) => {
    const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
    return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
  });
  return `${hardwareText()}, Redis ${redisVersion}, ${versions.join(', ')}`;
}
