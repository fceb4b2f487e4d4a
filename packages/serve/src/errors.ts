import type { KeyResolutionError } from '@sluice/core';
import { describe, warn } from '@sluice/core/internal';

/** A call that cannot be decided, because of what its client sent. */
export class BadCall extends Error {
  /** @param status of the response over HTTP */
  constructor(
    message: string,
    readonly status = 400,
  ) {
    super(message);
  }
}

/** Reports a call that failed by a mistake that its client cannot repair. */
export const warnOfCall = (error: unknown): void =>
  warn(
    'SLUICE_SERVE_FAILED',
    `serve: a call failed: ${error instanceof Error ? error.stack : describe(error)}`,
  );

/** In other servers a missing key of status 500 is private, because the program has to set it. Here the client has to send it. */
export const keyProblem = ({ status, message, expression }: KeyResolutionError): string =>
  status === 500 ? `The call has no value for the key ${expression}.` : message;
