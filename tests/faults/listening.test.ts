import { Redis as Redis5 } from 'ioredis-5';
import { type RedisClient, recommendedRedisOptions, redisStore } from '../../packages/core/src/index.js';
import { OwnRedis } from './own-redis.js';

const redis = new OwnRedis();

test.each([
  ['our own client', (url: string) => redisStore(url)],
  [
    'ioredis 5',
    (url: string) => {
      const client = new Redis5(url, { ...recommendedRedisOptions, disconnectTimeout: 0 });
      client.on('error', () => undefined);
      redis.open({ close: () => client.disconnect() });
      return redisStore(client as unknown as RedisClient);
    },
  ],
])(
  'a subscription whose reply is lost is made once more, and whoever listens hears (%s)',
  async (_, storeOn) => {
    const admin = redis.client();
    const proxy = await redis.proxy();
    const store = redis.open(storeOn(proxy.url));
    await store.listen('first', () => undefined); // connects
    proxy.resetNextReply();
    const heard = new Promise<number>((resolve) => {
      void store.listen('k', resolve).then(() => admin.publish('k', '7'));
    });
    expect(await heard).toBe(7);
    expect(proxy.lostReplies).toBe(1);
  },
);
