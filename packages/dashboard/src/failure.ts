import { describe, warn, warnOnce } from '@sluice/core/internal';

export const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(describe(error));

const messageOf = (what: string, error: unknown): string =>
  `dashboard: ${what}: ${asError(error).stack ?? asError(error).message}`;

/** Reports a request that gets a 500. */
export const warnOfRequest = (error: unknown): void =>
  warn('SLUICE_DASHBOARD_FAILED', messageOf('a request failed, so the answer is 500', error));

/** Reports a failed background read of the page. No call awaits it, so its rejection would end the process. */
export const warnOfRead = (error: unknown): void =>
  warnOnce('SLUICE_DASHBOARD_FAILED', asError(error).message, messageOf('a read of the page failed', error));
