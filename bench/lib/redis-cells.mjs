import { setTimeout as sleep } from 'node:timers/promises';
import { ENOUGH, NEVER_REACHED } from './limits.mjs';

const FILLING = 50;

/**
 * All measurements on one Redis, or one Cluster. Each limiter has its own client and its own keys.
 * @param connect creates a client with the contender's connection options
 * @returns columns for `measure`; `sizes`, to be called before the columns are filled; and `close`
 */
export function redisCells(contenders, { connect, prefix, server, keys, workloads, inFlight, settleMs }) {
  const clients = [];
  const open = (options) => {
    const client = connect(options);
    clients.push(client);
    return client;
  };
  /** All prefixes have the same length, because they count in the bytes of a key. */
  const limiter = (contender, tag, limit) => {
    const number = String(contenders.indexOf(contender)).padStart(2, '0');
    return contender.create(limit, { open, prefix: `${prefix}:${tag}${number}` });
  };
  const spread = Array.from({ length: keys }, (_, i) => `user:${i}`);
  const kinds = {
    hot: { name: 'hot key', keys: ['user:hot'], expect: true },
    keys: { name: `${keys.toLocaleString('en')} keys`, keys: spread, expect: true },
    denied: { name: 'denied', keys: ['user:denied'], expect: false },
  };

  /** Bytes of each new key in Redis, with its share of Redis's tables, which are empty at the start. */
  async function sizes() {
    const found = new Map();
    for (const contender of contenders) {
      const decide = await limiter(contender, 's', ENOUGH);
      await decide('user:first'); // connects, and loads the script
      await server.deleteKeys(`*${prefix}*`);
      await sleep(settleMs);
      const before = await server.memory();
      await fill(decide, spread);
      found.set(contender, ((await server.memory()) - before) / keys);
      await server.deleteKeys(`*${prefix}*`);
    }
    return found;
  }

  async function columns() {
    const limiters = new Map();
    for (const contender of contenders) {
      const hot = await limiter(contender, 'h', NEVER_REACHED);
      const allowing = await limiter(contender, 'k', ENOUGH);
      const denying = await limiter(contender, 'd', 1);
      limiters.set(contender, { hot, keys: allowing, denied: denying });
      if (workloads.includes('keys')) await fill(allowing, spread);
      const first = await denying('user:denied');
      if (!first || (await denying('user:denied')))
        throw new Error(`${contender.name} does not pass exactly one call`);
    }
    return Object.entries(kinds)
      .filter(([workload]) => workloads.includes(workload))
      .flatMap(([workload, kind]) =>
        inFlight.map((calls) =>
          contenders.map((contender) => ({
            contender,
            workload,
            column: `${kind.name}, ${calls}`,
            keys: kind.keys,
            expect: kind.expect,
            inFlight: calls,
            decide: limiters.get(contender)[workload],
          })),
        ),
      );
  }

  const close = () => {
    for (const client of clients) client.disconnect();
  };
  return { sizes, columns, close };
}

async function fill(decide, keys) {
  let next = 0;
  const worker = async () => {
    while (next < keys.length) {
      const key = keys[next++];
      if (!(await decide(key))) throw new Error(`The first call of ${key} was denied`);
    }
  };
  await Promise.all(Array.from({ length: FILLING }, worker));
}
