import { type RedisStore, redisStore } from '../../packages/core/src/index.js';

/** Runs what may emit this process warning (each is emitted once for each subject) without printing it. Others are emitted as ever. */
export function expectingWarning<T>(code: string, action: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = ((...args: unknown[]) => {
    if ((args[1] as { code?: string } | undefined)?.code !== code) Reflect.apply(emitWarning, process, args);
  }) as typeof process.emitWarning;
  try {
    return action();
  } finally {
    process.emitWarning = emitWarning;
  }
}

/** A store on a client with the settings that ioredis has by default, of which we warn. */
export const storeOnDefaults = (client: Parameters<typeof redisStore>[0]): RedisStore =>
  expectingWarning('SLUICE_CLIENT_RESENDS', () => redisStore(client));
