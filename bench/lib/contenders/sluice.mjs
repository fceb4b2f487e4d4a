import { core } from '../core.mjs';

const { fixedWindow, memoryStore, RateLimiter, recommendedRedisOptions, redisStore, tokenBucket } = core;
const window = (limit) => fixedWindow({ limit, window: '7d' });
const bucket = (limit) => tokenBucket({ capacity: limit, refill: limit, every: '7d' });

/**
 * Our modes on Redis. To measure another one, add a line with the options of its limiter, or its own `store`.
 * @type {{ id: string, name: string, policy: (limit: number) => object, options?: object, store?: (client: object) => object }[]}
 */
const REDIS_MODES = [
  { id: 'sluice-bucket', name: 'Sluice, tokenBucket', policy: bucket },
  { id: 'sluice-window', name: 'Sluice, fixedWindow', policy: window },
  {
    id: 'sluice-asking',
    name: 'Sluice, fixedWindow, `denyCache: false`',
    policy: window,
    options: { denyCache: false },
  },
  {
    id: 'sluice-prefetch',
    name: 'Sluice, fixedWindow, `prefetch: { most: 100 }`',
    policy: window,
    options: { prefetch: { most: 100 } },
  },
];

/** Long, because a busy machine may delay a reply more than a service should accept. */
const settings = { ...recommendedRedisOptions, socketTimeout: 30_000 };

const onRedis = ({ id, name, policy, options, store = redisStore }) => ({
  id,
  name,
  where: 'redis',
  create: (limit, { open, prefix }) => {
    const client = open(settings);
    const limiter = new RateLimiter({
      name: 'bench',
      keyPrefix: prefix,
      policy: policy(limit),
      store: store(client),
      deadline: '30s',
      ...options,
    });
    return (key) =>
      limiter.consume(key).then(({ allowed, degraded, source }) => {
        if (degraded) throw new Error(`${name}: not decided by Redis but by ${source}`);
        return allowed;
      });
  },
});

/**
 * For a Cluster: limiters that each have a `hashTag`, as for tenants or regions, on one client. Each user belongs to one of them.
 * @param groups how many
 */
export const inGroups = (groups) => ({
  id: 'sluice-groups',
  name: `Sluice, fixedWindow, ${groups} hash tags`,
  where: 'redis',
  create: (limit, { open, prefix }) => {
    const store = redisStore(open(settings));
    const members = Array.from({ length: groups }, (_, group) =>
      onRedis({ policy: window, options: { hashTag: `group-${group}` }, store: () => store }).create(limit, {
        open: () => {},
        prefix,
      }),
    );
    return (user) => members[(Number(/\d+$/.exec(user)) || 0) % groups](user);
  },
});

const POLICIES = [
  ['window', 'fixedWindow', window],
  ['bucket', 'tokenBucket', bucket],
];

const inMemory = ([id, algorithm, policy]) => {
  const create = (limit, { keys, prefix }) => {
    const store = memoryStore({ maxKeys: 2 * keys });
    return new RateLimiter({ name: 'bench', keyPrefix: prefix, policy: policy(limit), store });
  };
  return [
    {
      where: 'memory',
      id: `sluice-${id}-memory`,
      name: `Sluice, ${algorithm}`,
      create: (...given) => {
        const limiter = create(...given);
        return (key) => limiter.consume(key).then(({ allowed }) => allowed);
      },
    },
    {
      where: 'memory',
      id: `sluice-${id}-sync`,
      name: `Sluice, ${algorithm}, \`consumeSync\``,
      sync: true,
      create: (...given) => {
        const limiter = create(...given);
        return (key) => limiter.consumeSync(key).allowed;
      },
    },
  ];
};

export const sluice = [...REDIS_MODES.map(onRedis), ...POLICIES.flatMap(inMemory)];
