import type { LogRequest } from './log-request.js';

/** Reads the lines of one file. */
export interface LogFormat {
  readonly name: string;
  /** @returns the request, or why there is none, as the end of a sentence about the line */
  parse(text: string): LogRequest | string;
}
