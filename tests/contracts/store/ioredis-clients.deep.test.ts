import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { Redis as Valkey } from 'iovalkey';
import { redisUrl } from '../../support/redis-url.js';
import { clientContract } from './clients.suite.js';
import { redisByIoredis } from './openers.js';

/** Clients of ioredis and its like that are not the store's own. Where they could differ: connecting, replies, listening. */
describe.each([
  redisByIoredis('ioredis 6', () => new Redis6(redisUrl())),
  redisByIoredis('ioredis 5', () => new Redis5(redisUrl())),
  redisByIoredis('iovalkey', () => new Valkey(redisUrl())),
  redisByIoredis('a client with a keyPrefix', () => new Redis6(redisUrl(), { keyPrefix: 'app:' })),
  redisByIoredis('a client with lazyConnect', () => new Redis6(redisUrl(), { lazyConnect: true })),
  redisByIoredis(
    'a client that returns numbers as text',
    () => new Redis6(redisUrl(), { stringNumbers: true }),
  ),
])('redis by $name', (kind) => clientContract(kind));
