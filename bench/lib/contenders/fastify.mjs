import LocalStore from '@fastify/rate-limit/store/LocalStore.js';
import RedisStore from '@fastify/rate-limit/store/RedisStore.js';

const WEEK_MS = 7 * 86_400_000;

/** The stores of @fastify/rate-limit, called like its hook calls them, with the same options. */
export const fastify = [
  {
    id: 'fastify-redis',
    name: '@fastify/rate-limit, RedisStore',
    where: 'redis',
    create: (limit, { open, prefix }) => {
      const store = new RedisStore(false, false, open(), prefix);
      return (key) =>
        new Promise((resolve, reject) => {
          const answered = (error, answer) => (error ? reject(error) : resolve(answer.current <= limit));
          store.incr(key, answered, WEEK_MS, limit);
        });
    },
  },
  {
    id: 'fastify-local',
    name: '@fastify/rate-limit, LocalStore',
    where: 'memory',
    sync: true,
    create: (limit, { keys }) => {
      const store = new LocalStore(false, false, 2 * keys);
      let allowed;
      const answered = (_, answer) => {
        allowed = answer.current <= limit;
      };
      return (key) => {
        store.incr(key, answered, WEEK_MS, limit);
        return allowed;
      };
    },
  },
];
