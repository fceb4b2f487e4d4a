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

/** The machine, and the versions of the contenders. */
export function machineText(redisVersion) {
  const [{ model }] = cpus();
  const versions = LIBRARIES.map((name) => {
    const file = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
    return `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}`;
  });
  return `${cpus().length} cores (${model}), Node ${process.versions.node}, Redis ${redisVersion}, ${versions.join(', ')}`;
}
