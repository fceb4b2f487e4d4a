import { isReady, type RedisClient, whenReady } from './redis-client.js';
import { isMistake } from './redis-errors.js';
import { nameOf } from './redis-nodes.js';
import type { RedisWatch } from './redis-watch.js';

/**
 * Resolves when the client, or the connection to a node, is ready. A wrong password stays wrong for longer than a deadline, and must not be
 * taken for an outage when one has passed; only a client that would try for the first time now finds out. Nor is a connection ready that is
 * in another database.
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
 * Connects, and has every server learn the script.
 * @param run runs the script, with nothing to decide
 */
export async function introduced(
  client: RedisClient,
  watching: RedisWatch,
  run: (client: RedisClient) => Promise<unknown>,
): Promise<void> {
  await connected(client, watching);
  await run(client);
  // A node of a cluster that is away is no reason not to begin: its keys are out, and no others.
  const nodes = client.nodes?.('master') ?? [];
  await Promise.allSettled(
    nodes.map(async (node) => {
      if (!isReady(node)) await connected(node, watching, nameOf(node.options));
      await run(node);
    }),
  );
}
