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
