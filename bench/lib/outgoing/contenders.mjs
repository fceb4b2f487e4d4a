import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

// How each library calls the service: `load(path)` resolves when the call was served.

async function checked(url) {
  const response = await fetch(url);
  await response.arrayBuffer();
  if (response.ok) return;
  const seconds = Number(response.headers.get('retry-after') ?? 1);
  throw Object.assign(new Error(`status ${response.status}`), { retryAfter: seconds * 1000 });
}

export const contenders = {
  async sluice({ sources, name, origin, redis, rate }) {
    const { redisStore, slidingLog, upstream } = await import(sources);
    const store = redisStore(redis);
    const limits = { requests: slidingLog({ limit: rate, window: '1s' }) };
    const client = upstream({
      name,
      origin,
      store,
      limits,
      timeout: '1h',
      deadline: '5s',
      retry: { attempts: 20 },
    });
    return {
      load: async (path) => {
        const response = await client.fetch(path);
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`status ${response.status}`);
      },
      close: async () => {
        await client.close();
        await store.close();
      },
    };
  },

  /** Its limits live in Redis, shared by all processes. The client is given as text commands of ioredis. */
  async effect({ packages, name, origin, redis, rate }) {
    const part = (path) => import(pathToFileURL(join(packages, 'effect/dist', `${path}.js`)).href);
    const [Effect, Layer, HttpClient, Fetch, RateLimiter, RedisOf] = await Promise.all(
      [
        'Effect',
        'Layer',
        'http/HttpClient',
        'http/FetchHttpClient',
        'persistence/RateLimiter',
        'persistence/Redis',
      ].map(part),
    );
    const { Redis } = await import('ioredis');
    const client = new Redis(redis);
    const send = (command, ...args) => Effect.tryPromise(() => client.call(command, ...args));
    const made = RedisOf.make({ send, subscribe: () => Effect.never, connect: Effect.never });
    const store = RateLimiter.layerStoreRedis({ prefix: `${name}:` }).pipe(
      Layer.provide(Layer.effect(RedisOf.Redis, made)),
    );
    const layer = Layer.merge(Fetch.layer, RateLimiter.layer.pipe(Layer.provide(store)));
    const load = (path) =>
      Effect.gen(function* () {
        const limiter = yield* RateLimiter.RateLimiter;
        const http = (yield* HttpClient.HttpClient).pipe(
          HttpClient.withRateLimiter({ limiter, window: '1 second', limit: rate, key: 'service', times: 20 }),
        );
        const response = yield* http.get(origin + path);
        yield* response.text;
        if (response.status !== 200) throw new Error(`status ${response.status}`);
      });
    const ManagedRuntime = await part('ManagedRuntime');
    const runtime = ManagedRuntime.make(layer);
    return {
      load: (path) => runtime.runPromise(load(path)),
      close: async () => {
        await runtime.dispose();
        client.disconnect();
      },
    };
  },

  /** Its datastore in Redis needs Redis below 7, so each process has its share of the limit. */
  async bottleneck({ origin, rate, processes }) {
    const { default: Bottleneck } = await import('bottleneck');
    const share = Math.floor(rate / processes);
    const limiter = new Bottleneck({
      reservoir: share,
      reservoirRefreshAmount: share,
      reservoirRefreshInterval: 1000,
    });
    limiter.on('failed', ({ retryAfter = 1000 }) => retryAfter);
    return {
      load: (path) => limiter.schedule(() => checked(origin + path)),
      close: () => limiter.disconnect(),
    };
  },

  async 'p-throttle'({ origin, rate, processes }) {
    const { default: pThrottle } = await import('p-throttle');
    const { default: pRetry } = await import('p-retry');
    const throttle = pThrottle({ limit: Math.floor(rate / processes), interval: 1000, strict: true });
    const call = throttle((path) => checked(origin + path));
    return { load: (path) => pRetry(() => call(path), { retries: 20, minTimeout: 1000 }), close: () => {} };
  },
};
