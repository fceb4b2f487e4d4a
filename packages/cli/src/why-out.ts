import { isStoreUnavailableError } from '@sluice/core';
import { isStoreRefusal } from '@sluice/core/internal';
import { noAnswer } from './cli-error.js';
import type { Connection } from './connection.js';
import { openDeployment } from './doctor/deployment.js';
import { messageOf } from './doctor/refusal.js';

/** For clusters and sentinels, ioredis reports only that none answers. @returns an error with the reason of each server */
export async function whyOut(
  error: unknown,
  { redis, deadline, address }: Pick<Connection, 'redis' | 'deadline' | 'address'>,
): Promise<unknown> {
  if (redis === undefined || !isStoreUnavailableError(error) || isStoreRefusal(error)) return error;
  const { server } = redis;
  if ('url' in server) return error;
  const timing = { timeout: deadline, signal: AbortSignal.timeout(deadline) };
  const { nodes, sentinels } = await openDeployment(server, timing);
  const servers = [...(sentinels?.opinions ?? []).map(({ node }) => node), ...nodes];
  for (const node of servers) node.close();
  const reasons = servers.flatMap(({ name, failure }) =>
    failure === undefined ? [] : [`${name}: ${messageOf(failure)}`],
  );
  return reasons.length === 0 ? error : noAnswer(address, reasons.join('; '));
}
