import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  fixedWindow,
  RateLimiter,
  recommendedRedisOptions,
  redisStore,
} from '../../packages/core/src/index.js';
import { AUTHORITY, CERTIFICATE, startTlsRedis, WRONG_CERTIFICATE } from '../support/redis/redis-tls.js';
import { uniqueName } from '../support/redis-url.js';
import { fromRedis } from './callers.js';
import { runOutage } from './outage.js';
import { LIMIT, OwnRedis } from './own-redis.js';
import { record } from './table.js';

const redis = new OwnRedis();
const group = 'network';
/** Our own client replaces a connection that is silent for a second, which also ends its calls. */
const SILENT = ['timeout', 'connection'] as const;

test('the failure policy decides while the server is killed', async () => {
  await runOutage({
    ...{ group, fault: 'killed (`kill -9`)', reasons: ['connection', 'timeout'], forgets: true },
    connectionError: /ECONNREFUSED/,
    store: redis.open(redisStore(redis.server.url)),
    begin: () => redis.server.kill(),
    end: () => redis.server.restart(),
  });
});

test('the failure policy decides without a server from the start', async () => {
  await redis.server.kill();
  await runOutage({
    ...{ group, fault: 'never there', reasons: ['connection', 'timeout'], fromTheStart: true },
    connectionError: /ECONNREFUSED/,
    store: redis.open(redisStore(redis.server.url)),
    begin: () => undefined,
    end: () => redis.server.restart(),
  });
});

test('the failure policy decides while the server is frozen', async () => {
  await runOutage({
    ...{ group, fault: 'frozen (`kill -STOP`)', reasons: SILENT, mayCount: true },
    store: redis.open(redisStore(redis.server.url)),
    begin: () => redis.server.freeze(),
    end: () => redis.server.thaw(),
  });
});

test('the failure policy decides while replies are too late', async () => {
  const proxy = await redis.proxy();
  await runOutage({
    ...{ group, fault: 'slow: answers after the deadline', reasons: SILENT, mayCount: true },
    store: redis.open(redisStore(proxy.url)),
    // The proxy is in this process: after a stall a shorter delay would be over before the calls have failed.
    begin: () => proxy.delay(2_000),
    end: () => proxy.pass(),
  });
});

test('the failure policy decides while each connection is reset in the middle of a reply', async () => {
  const proxy = await redis.proxy();
  await runOutage({
    ...{
      group,
      fault: 'reset in the middle of each reply',
      reasons: ['connection', 'timeout'],
      mayCount: true,
    },
    store: redis.open(redisStore(proxy.url)),
    begin: () => proxy.resetEvery(1, 2),
    end: () => proxy.resetEvery(0),
  });
});

test('under load with lost replies Redis counts each call once', async () => {
  const proxy = await redis.proxy();
  const limiter = new RateLimiter({
    name: uniqueName('network'),
    policy: fixedWindow({ limit: LIMIT, window: '1h' }),
    store: redis.open(redisStore(proxy.url)),
    failurePolicy: 'deny',
    deadline: '2s', // only lost replies fail calls
  });
  await fromRedis(() => limiter.peek('k'));
  let admitted = 0;
  const calls: { key: string; allowed: boolean }[] = [];
  const caller = async () => {
    while (admitted < 200 || proxy.lostReplies < 20) {
      const key = `k${calls.length}`;
      const call = { key, allowed: false };
      calls.push(call);
      call.allowed = (await limiter.consume(key)).allowed;
      if (call.allowed) admitted += 1;
      await sleep(1); // otherwise denied callers would block the event loop for the others
    }
  };
  proxy.resetEvery(10);
  await Promise.all(Array.from({ length: 4 }, caller));
  proxy.resetEvery(0);
  let counted = 0;
  for (const { key, allowed } of calls) {
    const { remaining } = await fromRedis(() => limiter.peek(key));
    expect([0, 1]).toContain(LIMIT - remaining);
    if (allowed) expect(remaining).toBe(LIMIT - 1);
    counted += LIMIT - remaining;
  }
  record({
    ...{ group, fault: 'every 10th reply lost with its connection, under load' },
    seen: `the failure policy, ${calls.length - admitted} of ${calls.length} times`,
    counted: `${counted - admitted} of ${calls.length - admitted} unanswered`,
  });
});

test('the failure policy decides while the network drops everything', async () => {
  const proxy = await redis.proxy();
  await runOutage({
    ...{ group, fault: 'blackhole', reasons: ['connection', 'timeout'], mayCount: true },
    store: redis.open(redisStore(proxy.url)),
    begin: () => proxy.blackhole(),
    end: () => proxy.pass(),
  });
});

test('the failure policy decides while the certificate is from an unknown authority', async () => {
  const server = await startTlsRedis(WRONG_CERTIFICATE);
  redis.open({ close: () => server.stop() });
  const client = redis.client(server.tlsUrl, {
    ...recommendedRedisOptions,
    tls: { ca: readFileSync(AUTHORITY) },
    retryStrategy: () => 50,
  });
  await runOutage({
    ...{ group: 'set-up', fault: 'TLS: a certificate by an authority that is not trusted' },
    reasons: ['connection', 'timeout'],
    connectionError: /unable to (verify|get)|self.signed/,
    fromTheStart: true,
    store: redis.open(redisStore(client)),
    begin: () => undefined,
    end: () => redis.client(server.url).config('SET', 'tls-cert-file', CERTIFICATE),
  });
});
