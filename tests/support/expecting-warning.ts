import { type RedisStore, redisStore } from '../../packages/core/src/index.js';

/** Runs `action` without printing this process warning, which is emitted once per subject. Other warnings are printed. */
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

/** A store on a client with the default settings of ioredis, which cause a warning. */
export const storeOnDefaults = (client: Parameters<typeof redisStore>[0]): RedisStore =>
  expectingWarning('SLUICE_CLIENT_RESENDS', () => redisStore(client));
