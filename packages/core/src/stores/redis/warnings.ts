import { warnOnce } from '../../warnings.js';
import type { RedisClient } from './client.js';

/** Warns when a client of the user resends a call whose reply was lost: it may have counted the first time. */
export function warnOfResending({ isCluster, options = {} }: RedisClient): void {
  const { autoResendUnfulfilledCommands, maxRetriesPerRequest, retryDelayOnFailover = 0 } = options;
  const resends = isCluster
    ? retryDelayOnFailover > 0
    : autoResendUnfulfilledCommands === true && maxRetriesPerRequest !== 0;
  if (!resends) return;
  const settings = isCluster ? 'recommendedClusterOptions' : 'recommendedRedisOptions';
  warnOnce(
    'SLUICE_CLIENT_RESENDS',
    settings,
    `redisStore: this client resends a call when its connection is lost before the reply, so one call can count twice: create the client with ${settings} of @sluice/core`,
  );
}

/** Warns when the server evicts keys to make room: evicted limits start again. */
export async function warnOfEviction(client: RedisClient): Promise<void> {
  let memory: string;
  try {
    memory = String(await client.info?.('memory'));
  } catch {
    return; // not permitted, or no connection any more: no decision depends on this
  }
  const policy = /^maxmemory_policy:(\S+)/m.exec(memory)?.[1] ?? 'noeviction';
  const bounded = /^maxmemory:[1-9]/m.test(memory);
  if (policy === 'noeviction' || !bounded) return;
  warnOnce(
    'SLUICE_EVICTION',
    policy,
    `redisStore: this Redis evicts keys when its memory is full (maxmemory-policy ${policy}), and an evicted key gets its whole limit again: set maxmemory-policy to noeviction`,
  );
}

/**
 * Warns when a cluster refuses keys that are not declared: each slot gets its own script call.
 * @param refusal the server's error
 */
export function warnOfDeclaredKeys(address: string, refusal: string): void {
  warnOnce(
    'SLUICE_DECLARED_KEYS',
    address,
    `redisStore: ${address} refuses a script call for keys of several slots (${refusal}), as proxies and serverless clusters do. ` +
      'Limits stay exact, but each slot gets a script call of its own, which costs more time and CPU: connect to the nodes of the ' +
      'cluster directly, or give each limiter a hashTag',
  );
}

/** Warns when the server decides calls, but refuses what this process publishes about its limiters. @returns true */
export function warnOfRefusedBoard(address: string, refusal: unknown): true {
  warnOnce(
    'SLUICE_FLEET_REFUSED',
    address,
    `redisStore: ${address} refuses what this process tells other processes about its limiters (${(refusal as Error).message}). ` +
      'Decisions are not affected, but readUsage and the command sluice cannot see this process: give the user the rights of docs/operations.md, ' +
      'or turn it off with redisStore({ …, definitions: false, usage: false })',
  );
  return true;
}
