import { isReady, type RedisClient, whenReady } from './client.js';
import { isMistake } from './errors.js';
import { nameOf } from './nodes.js';
import type { RedisWatch } from './watch.js';

/**
 * Resolves when the client, or the connection to a node, is ready. Rejects at once after a configuration error such as a wrong password:
 * waiting until the deadline would report an outage instead. Only a client without any attempt yet is awaited. A connection to the
 * wrong database is not ready either.
 */
export async function connected(client: RedisClient, watching: RedisWatch, node?: string): Promise<void> {
  if (!isReady(client)) {
    const lastError = watching.error(node);
    if (client.status !== 'wait' && isMistake(lastError)) throw lastError;
    await whenReady(client, (error) => watching.isRefusal(error));
  }
  if (watching.misplaced !== undefined) throw watching.misplaced;
}

/**
 * Connects, and loads the script on every server.
 * @param run runs the script without a call
 */
export async function introduced(
  client: RedisClient,
  watching: RedisWatch,
  run: (client: RedisClient) => Promise<unknown>,
): Promise<void> {
  await connected(client, watching);
  await run(client);
  // An unreachable cluster node does not fail the start: only its own keys are out.
  const nodes = client.nodes?.('master') ?? [];
  await Promise.allSettled(
    nodes.map(async (node) => {
      if (!isReady(node)) await connected(node, watching, nameOf(node.options));
      await run(node);
    }),
  );
}
