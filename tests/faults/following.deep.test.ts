import type { Redis, RedisOptions } from 'ioredis';
import { storeOnDefaults } from '../support/expecting-warning.js';
import { eventually, OwnRedis } from './own-redis.js';

const redis = new OwnRedis();

test('a follower of denials learns that its connection is dead without notice, and gets another', async () => {
  const proxy = await redis.proxy();
  const client = redis.client();
  client.duplicate = ((options: RedisOptions) => redis.client(proxy.url, options)) as Redis['duplicate'];
  const heard: string[] = [];
  redis.open(storeOnDefaults(client)).fleet.follow({
    received: () => undefined,
    lost: ({ reason }) => heard.push(reason),
    resumed: () => heard.push('resumed'),
  });
  await eventually(async () => expect(await client.pubsub('CHANNELS')).toHaveLength(1));
  proxy.blackhole();
  await eventually(async () => expect(heard).toEqual(['timeout']));
  proxy.pass();
  await eventually(async () => expect(heard).toEqual(['timeout', 'resumed']));
});
