import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Decision, RequestLimitOptions } from '../../../../packages/core/src/index.js';

/** What functions get first in every framework. */
export interface Incoming {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly method: string;
}

/** What they get: more in some frameworks than in others. */
export type Args = [request: Incoming, ...rest: unknown[]];

export type Limit = RequestLimitOptions<Args>;

/** How a handler answers, beside what it returns. */
export interface Answer {
  status(code: number): void;
  /** Node's own. */
  readonly raw: ServerResponse;
}

/** A router under a prefix: its limits, then for each route (of GET) its own. */
export interface Scope {
  readonly at: string;
  readonly limits?: readonly Limit[];
  readonly routes: Readonly<Record<string, readonly Limit[]>>;
}

/** Who answers an error: the framework, what the adapter has for it, or an error handler of the service's own. */
export type Errors = 'framework' | 'adapter' | 'own';

/** A service whose routes all do the same: go through the limits, then call the handler and answer its result as JSON, or as a stream. */
export interface Service {
  /** In order, in front of everything. */
  readonly limits?: readonly Limit[];
  readonly scopes?: readonly Scope[];
  readonly handler?: (decision: Decision | undefined, answer: Answer) => unknown;
  /** Comes before the limits, and may answer. */
  readonly before?: (raw: ServerResponse) => void;
  /** Answers denied requests, in place of the limits. */
  readonly denied?: (decision: Decision, request: unknown) => unknown;
  /** Default: the framework. */
  readonly errors?: Errors;
  /** Trust X-Forwarded-For of one proxy, or of every address. */
  readonly trustProxy?: boolean | 'all';
}

export interface Running {
  readonly url: string;
  close(): Promise<void>;
}

export const nothing = () => ({ ok: true });

export async function listening(server: Server): Promise<Running> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
