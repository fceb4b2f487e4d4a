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

const store = memoryStore();
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
