import { memoryStore, type RedisStore, redisStore } from '@sluice/core';
import { closeSluice } from '@sluice/decorators';
import { createApp } from './app.js';

const { REDIS_URL, PORT = '3000', DEADLINE = '100ms' } = process.env;

try {
  const store = REDIS_URL ? watched(redisStore(REDIS_URL)) : memoryStore();
  const server = createApp(store, DEADLINE).listen(port(PORT), '127.0.0.1');
  server.once('error', (error: NodeJS.ErrnoException) => {
    fail(
      error.code === 'EADDRINUSE'
        ? `Port ${PORT} is taken; choose another: PORT=${Number(PORT) + 1} npm start`
        : error.message,
    );
  });
  server.once('listening', () => {
    const address = server.address();
    if (typeof address === 'object' && address !== null) console.log(welcome(address.port));
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
    void Promise.all([closeSluice(), store.close()]);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
} catch (error) {
  fail((error as Error).message);
}

/** Says when Redis is lost and when it is back: in between each process counts for itself. */
function watched(store: RedisStore): RedisStore {
  return store
    .on('degraded', ({ error }) =>
      console.log(`Redis is out, and this process counts for itself: ${error.message}`),
    )
    .on('recovered', ({ after }) => console.log(`Redis decides again, after ${after} ms`));
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new RangeError(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

function welcome(port: number): string {
  const url = `http://127.0.0.1:${port}`;
  const state = REDIS_URL
    ? 'in Redis: start a second one with another PORT, and both share limits'
    : 'in memory';
  return `Sluice demo at ${url}, limits ${state}

  GET  ${url}/limiter/count?key=test           @CountLimit: 2 per key in 10 s
  GET  ${url}/limiter/rate?key=test            @RateLimit: 1 in 5 s
  GET  ${url}/limiter/rate2                    in code: 1 in 30 s
  POST ${url}/sms/count?phone=13800000000      @CountLimit: 1 code per number in 60 s
  POST ${url}/sms/rate?phone=13800000000       @RateLimit: 1 code per number in 60 s
  GET  ${url}/hello                            middleware: 5 per address in 10 s

Try these; the 429 tells in Retry-After when the next 200 comes:

  for i in 1 2 3; do curl -si '${url}/limiter/count?key=test' | grep -iE '^(HTTP|retry-after)'; done
  for i in 1 2 3 4 5 6 7; do curl -si '${url}/limiter/rate?key=test' | grep -iE '^(HTTP|retry-after)'; sleep 1; done
  for i in 1 2; do curl -siX POST '${url}/sms/count?phone=13800000000' | grep -iE '^(HTTP|retry-after)'; done
  for i in 1 2; do curl -siX POST '${url}/sms/rate?phone=13800000000' | grep -iE '^(HTTP|retry-after)'; done
`;
}
