import { MemoryStore } from 'express-rate-limit';
import { RedisStore } from 'rate-limit-redis';

const WEEK_MS = 7 * 86_400_000;

/** The stores of express-rate-limit, called like its middleware calls them. */
export const express = [
  {
    id: 'rate-limit-redis',
    name: 'rate-limit-redis (express-rate-limit)',
    where: 'redis',
    create: async (limit, { open, prefix }) => {
      const client = open();
      const store = new RedisStore({ sendCommand: (...command) => client.call(...command), prefix });
      await store.init({ windowMs: WEEK_MS });
      return async (key) => (await store.increment(key)).totalHits <= limit;
    },
  },
  {
    id: 'express-memory',
    name: 'express-rate-limit, MemoryStore',
    where: 'memory',
    create: (limit) => {
      const store = new MemoryStore();
      store.init({ windowMs: WEEK_MS });
      return async (key) => (await store.increment(key)).totalHits <= limit;
    },
  },
];
