import { createClient } from 'redis';
import { redisUrl } from '../../support/redis-url.js';
import { clientContract } from './clients.suite.js';
import { redisByClient } from './openers.js';

const nodeRedis = (options: Parameters<typeof createClient>[0] = {}, opened = false) => {
  const client = createClient({ url: redisUrl(), ...options });
  if (opened) {
    client.on('error', () => undefined);
    client.connect().catch(() => undefined);
  }
  // A client that was never used was never opened.
  let used = opened;
  client.on('connect', () => {
    used = true;
  });
  return { client, isOpen: () => client.isOpen || !used, close: () => client.destroy() };
};

/** Its words for scripts, connecting and listening are others. */
describe.each([
  redisByClient('node-redis', () => nodeRedis({}, true)),
  redisByClient('node-redis that is not open yet', () => nodeRedis()),
  redisByClient('node-redis with a keyPrefix, on RESP 2', () =>
    nodeRedis({ keyPrefix: 'app:', RESP: 2 }, true),
  ),
  redisByClient('node-redis without an offline queue', () => nodeRedis({ disableOfflineQueue: true }, true)),
])('redis by $name', (kind) => clientContract(kind));
