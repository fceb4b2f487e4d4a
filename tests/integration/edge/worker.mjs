// A worker that uses the packages. It creates the limits while the module loads, as programs do.
import {
  concurrency,
  fixedWindow,
  hashKey,
  memoryStore,
  RateLimiter,
  redisStore,
  subscribe,
} from '@sluice/core';
import { errorResponse, rateLimit } from '@sluice/fetch';
import { rateLimit as limitOfHono } from '@sluice/hono';
import { upstashStore } from '@sluice/upstash';
import { Hono } from 'hono';
import { getConnInfo } from 'hono/cloudflare-workers';

const store = memoryStore();
/** A store of Upstash, as of the first request that names its address: a test has the address late. */
let shared;
const sharedBy = (url) => {
  if (shared !== undefined) return shared;
  const upstash = upstashStore({ url, token: 'a-token-of-the-tests' });
  upstash.on('degraded', () => {});
  const options = { store: upstash, deadline: '5s' };
  shared = {
    limit: rateLimit({ name: 'shared', policy: fixedWindow({ limit: 5, window: '1h' }), ...options }),
    cart: new RateLimiter({ name: 'cart', policy: fixedWindow({ limit: 50, window: '1h' }), ...options }),
    impatient: new RateLimiter({
      name: 'impatient',
      policy: fixedWindow({ limit: 50, window: '1h' }),
      store: upstash,
      deadline: '200ms',
      failurePolicy: 'deny',
    }),
  };
  return shared;
};
const policy = fixedWindow({ limit: 3, window: '1m' });
const limit = rateLimit({
  name: 'edge',
  policy,
  store,
  denyList: ['203.0.113.0/24', '2001:db8::/32'],
  partitionKey: true,
});
const shop = rateLimit({ name: 'shop', policy, store, key: '#{headers["x-shop"]}' });
const pace = new RateLimiter({ name: 'pace', policy: fixedWindow({ limit: 1, window: '300ms' }), store });
const exports_ = new RateLimiter({ name: 'exports', policy: concurrency({ limit: 1, lease: '10s' }), store });
const short = new RateLimiter({ name: 'short', policy: fixedWindow({ limit: 1, window: '10ms' }), store });
const app = new Hono()
  .use(limitOfHono((env) => ({ name: 'hono', policy, store, getConnInfo, cost: env.COST })))
  .get('/hono', (context) => context.json(context.var.rateLimit.remaining));
let denials = 0;
subscribe('sluice:decision', ({ decision }) => {
  denials += decision?.allowed === false ? 1 : 0;
});

const messageOf = (work) => {
  try {
    return work();
  } catch (error) {
    return `${error.name}: ${error.message}`;
  }
};

const routes = {
  '/limited': (request) => limited(limit, request),
  '/hono': (request) => app.fetch(request, { COST: 1 }),
  '/shop': (request) => limited(shop, request),
  '/pace': async () => json(await pace.acquire('all', { timeout: '5s' })),
  '/export': () =>
    exports_.schedule(
      'all',
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 100));
        return json('exported');
      },
      { timeout: '5s' },
    ),
  '/long-keys': () => {
    const keys = ['é', '\ud800', 'x'.repeat(1000)].map((part) => part.repeat(100));
    return json([
      keys.map((key) => pace.consumeSync(key).allowed),
      keys.map(hashKey),
      hashKey('203.0.113.7'),
    ]);
  },
  '/fill': async () => {
    for (let i = 0; i < 100; i += 1) short.consumeSync(`${Date.now()} ${i}`);
    return json(store.size);
  },
  '/denials': () => json(denials),
  '/shared': (request) => limited(sharedBy(request.headers.get('x-upstash')).limit, request),
  '/cart': async (request) => {
    const { cart } = sharedBy(request.headers.get('x-upstash'));
    const keys = Array.from({ length: 10 }, (_, i) => `${request.headers.get('x-ip')} ${i}`);
    const decisions = await Promise.all(keys.map((key) => cart.consume(key)));
    return json(decisions.map(({ remaining, degraded }) => [remaining, degraded]));
  },
  '/impatient': async (request) => {
    const { impatient } = sharedBy(request.headers.get('x-upstash'));
    const { allowed, degraded, source } = await impatient.consume('all');
    return json({ allowed, degraded, source });
  },
  '/redis': () => json(messageOf(() => redisStore('redis://127.0.0.1:6379'))),
  '/wide': () => json(messageOf(() => rateLimit({ policy, key: '#{body.items[*].id}' }))),
};

const json = (value) => Response.json(value);

async function limited(limit, request) {
  const denied = await limit(request, { ip: request.headers.get('x-ip') ?? '192.0.2.1' });
  return denied ?? limit.complete(request, new Response('hello'));
}

export async function handle(request) {
  try {
    return await routes[new URL(request.url).pathname](request);
  } catch (error) {
    return errorResponse(error, request) ?? new Response(String(error.stack), { status: 500 });
  }
}

export default { fetch: handle };
