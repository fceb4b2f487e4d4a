import {
  fixedWindow,
  isStoreUnavailableError,
  recommendedClusterOptions,
} from '../../../packages/core/src/index.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { eventually, KINDS, OwnCluster, rejection } from './own-cluster.js';

const own = new OwnCluster();

test.each(KINDS.slice(0, 2))('a call whose reply is lost counts at most once, $name', async (kind) => {
  const proxies = await Promise.all(own.nodes.map(({ port }) => TcpProxy.start(port)));
  for (const proxy of proxies) own.open(proxy);
  const natMap = Object.fromEntries(
    own.nodes.map(({ port }, i) => [`127.0.0.1:${port}`, { host: '127.0.0.1', port: proxies[i]!.port }]),
  );
  const limiter = own.limiter({
    policy: fixedWindow({ limit: 10, window: '1h' }),
    store: own.store(kind, { ...recommendedClusterOptions, natMap }),
  });
  await limiter.consume('k');
  for (const proxy of proxies) proxy.resetNextReply();
  expect(isStoreUnavailableError(await rejection(limiter.consume('k')))).toBe(true);
  // The client finds the node again by itself.
  const peeked = await eventually(() => limiter.peek('k').catch(() => undefined));
  expect(peeked).toMatchObject({ remaining: 8 });
});
