import { redisStore } from '../../packages/core/src/index.js';
import { endure } from './ordeal.js';
import { OwnRedis } from './own-redis.js';

const redis = new OwnRedis();
const group = 'network';

test('the server is killed', async () => {
  await endure({
    ...{ group, fault: 'killed (`kill -9`)', reasons: ['connection', 'timeout'], forgets: true },
    connectionError: /ECONNREFUSED/,
    store: redis.open(redisStore(redis.server.url)),
    begin: () => redis.server.kill(),
    end: () => redis.server.restart(),
  });
});

test('the server was never there', async () => {
  await redis.server.kill();
  await endure({
    ...{ group, fault: 'never there', reasons: ['connection', 'timeout'], fromTheStart: true },
    connectionError: /ECONNREFUSED/,
    store: redis.open(redisStore(redis.server.url)),
    begin: () => undefined,
    end: () => redis.server.restart(),
  });
});

test('the server is frozen', async () => {
  await endure({
    ...{ group, fault: 'frozen (`kill -STOP`)', reasons: ['timeout'], mayCount: true },
    store: redis.open(redisStore(redis.server.url)),
    begin: () => redis.server.freeze(),
    end: () => redis.server.thaw(),
  });
});

test('answers come too late', async () => {
  const proxy = await redis.proxy();
  await endure({
    ...{ group, fault: 'slow: answers after the deadline', reasons: ['timeout'], mayCount: true },
    store: redis.open(redisStore(proxy.url)),
    begin: () => proxy.delay(300),
    end: () => proxy.pass(),
  });
});

test('each connection is reset in the middle of a reply', async () => {
  const proxy = await redis.proxy();
  await endure({
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

test('the network swallows everything', async () => {
  const proxy = await redis.proxy();
  await endure({
    ...{ group, fault: 'blackhole', reasons: ['connection', 'timeout'], mayCount: true },
    store: redis.open(redisStore(proxy.url)),
    begin: () => proxy.blackhole(),
    end: () => proxy.pass(),
  });
});
