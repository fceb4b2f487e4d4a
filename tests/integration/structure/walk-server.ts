import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { type Profiler, Session } from 'node:inspector';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { recommendedRedisOptions, redisStore, tokenBucket } from '@sluice/core';
import { rateLimit } from '@sluice/express';
import express from 'express';
import { Redis } from 'ioredis';
import type { Called } from './walk.js';

// A server with a limiter, and its only client. Prints the functions of this file that run while one request is answered, of several
// such requests. Options: the URL of a Redis, the name of the limiter.

/** Warm-up calls: then the script is cached, all code has run, and the checks for misuse have ended. */
const WARM_UP = 1100;
const MEASURED = 3;
/** Time in which the work after a request ends, including its deadline's timer, ms. */
const SETTLED = 800;

async function main(url: string, name: string): Promise<void> {
  // Generous: one late call on a busy machine would add the fallback to the walk.
  const timeouts = { commandTimeout: 30_000, socketTimeout: 60_000 };
  const redis = new Redis(url, { ...recommendedRedisOptions, ...timeouts });
  const app = express();
  const policy = tokenBucket({ capacity: 1_000_000, refill: 1_000_000, every: '1m' });
  app.use(rateLimit({ name, policy, store: redisStore(redis), deadline: '30s' }));
  app.get('/', (_request, response) => {
    response.send('ok');
  });
  const server = app.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true });
  const request = async () => {
    const [response] = await once(get({ port, agent, host: '127.0.0.1' }), 'response');
    const { ratelimit } = response.headers;
    if (response.statusCode !== 200 || ratelimit === undefined)
      throw new Error(`answered ${response.statusCode}, RateLimit: ${ratelimit}`);
    await once(response.resume(), 'end');
  };

  for (let i = 0; i < WARM_UP; i += 1) await request();
  const profiler = new Session();
  profiler.connect();
  profiler.post('Profiler.enable');
  profiler.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
  /** The functions that ran since the last call. A session in its own thread answers at once. */
  const takeCalled = (): Called[] => {
    let functions: Profiler.FunctionCoverage[] = [];
    profiler.post('Profiler.takePreciseCoverage', (error, coverage) => {
      if (error) throw error;
      functions = coverage.result
        .filter(({ url }) => url.endsWith(__filename))
        .flatMap((one) => one.functions);
    });
    return functions
      .map(({ functionName, ranges: [range] }) => ({
        name: functionName,
        start: range!.startOffset,
        count: range!.count,
      }))
      .filter(({ count }) => count > 0);
  };
  const calls: Called[][] = [];
  await setTimeout(SETTLED);
  for (let i = 0; i < MEASURED; i += 1) {
    takeCalled();
    await request();
    await setTimeout(SETTLED);
    calls.push(takeCalled());
  }
  console.log(JSON.stringify(calls));
  profiler.disconnect();
  agent.destroy();
  server.close();
  redis.disconnect();
}

const [url, name] = process.argv.slice(2);
void main(url!, name!);
