import { isSluiceError, SluiceError } from '@sluice/core';
import { lengthText } from '@sluice/core/internal';
import type { Scope } from './reading/reading.js';

/** The upstream is paused for longer than the call may wait. Nothing was sent. */
export class UpstreamPausedError extends SluiceError {
  readonly code = 'SLUICE_UPSTREAM_PAUSED';
  /** Over HTTP: this service cannot answer now. */
  readonly status = 503;
  readonly statusCode = 503;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    /** The name of the upstream. */
    readonly upstream: string,
    /** When the pause ends, ms since 1970. */
    readonly until: number,
    /** How far the pause reaches. */
    readonly scope: Scope,
    /** Why, in the words of the upstream. */
    readonly reason: string,
    /** ms from now until then. */
    readonly retryAfter: number,
  ) {
    super(`Upstream '${upstream}' is paused for ${lengthText(retryAfter)} (${scope}: ${reason})`);
    this.headers = { 'Retry-After': String(Math.ceil(retryAfter / 1000)) };
  }
}

/** The upstream is paused for longer than the call may wait: see `UpstreamPausedError`. Recognises also errors of another copy of this package. */
export const isUpstreamPausedError = (error: unknown): error is UpstreamPausedError =>
  isSluiceError(error) && error.code === 'SLUICE_UPSTREAM_PAUSED';
