import { Redis as Redis6 } from 'ioredis';
import { Redis as Redis5 } from 'ioredis-5';
import { memoryStore, redisStore, type Store } from '../../packages/core/src/index.js';
import { redisUrl } from '../support/redis-url.js';
import { storeContract } from './store.contract.js';

/** A store on a client that is not its own, which ends with it here so that the contract has one thing to close. */
function borrowing(client: Redis5 | Redis6): Store {
  const store = redisStore(client);
  return Object.assign(Object.create(store), {
    decide: store.decide.bind(store),
    reset: store.reset.bind(store),
    close: async () => {
      await store.close();
      expect(client.status).toBe('ready');
      client.disconnect();
    },
  });
}

storeContract('memory', () => memoryStore());
storeContract('redis by address', () => redisStore(redisUrl()));
storeContract('redis by ioredis 6', () => borrowing(new Redis6(redisUrl())));
storeContract('redis by ioredis 5', () => borrowing(new Redis5(redisUrl())));
