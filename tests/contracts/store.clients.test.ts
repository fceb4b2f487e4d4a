import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { redisUrl } from '../support/redis-url.js';
import { holdingContract } from './store-holding.js';
import { redisByClient } from './store-openers.js';
import { waitingContract } from './store-waiting.js';

/** Clients that are not the store's own. Where they could differ: connecting, replies, listening. */
describe.each([
  redisByClient('ioredis 6', () => new Redis6(redisUrl())),
  redisByClient('ioredis 5', () => new Redis5(redisUrl())),
  redisByClient('a client with a keyPrefix', () => new Redis6(redisUrl(), { keyPrefix: 'app:' })),
  redisByClient('a client that connects when asked', () => new Redis6(redisUrl(), { lazyConnect: true })),
])('redis by $name', (kind) => {
  describe('waiting', () => waitingContract(kind));
  describe('holding', () => holdingContract(kind));
});
