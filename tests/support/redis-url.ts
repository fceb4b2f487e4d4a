import { randomUUID } from 'node:crypto';

/** The Redis that this test run started or was given (see global-setup.ts). Shared: use `uniqueName` for limiters. */
export function redisUrl(): string {
  const url = process.env.SLUICE_TEST_REDIS_URL;
  if (url === undefined) throw new Error('SLUICE_TEST_REDIS_URL is not set: run the tests with `npm test`');
  return url;
}

/** A limiter name that no other test, worker or run uses. */
export const uniqueName = (what: string): string => `${what}-${randomUUID().slice(0, 13)}`;
