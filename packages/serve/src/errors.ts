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

/** An error about the server's own setup hides what is missing from clients; here the client is the one that knows. */
export const keyProblem = ({ status, message, expression }: KeyResolutionError): string =>
  status === 500 ? `The call has no value for the key ${expression}.` : message;
