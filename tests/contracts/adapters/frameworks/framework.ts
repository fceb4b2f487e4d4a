import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Decision } from '../../../../packages/core/src/index.js';
import type { RequestLimitOptions } from '../../../../packages/http/src/index.js';

/** What functions of a limit get: only the framework's own entry knows the types. */
export type Args = [request: unknown, ...rest: unknown[]];

export type Limit = RequestLimitOptions<Args>;

/** How a handler answers, other than by its result. */
export interface Answer {
  status(code: number): void;
  /** Node's own. */
  readonly raw: ServerResponse;
  /** The handler ends the response itself, so the framework must not. */
  takeOver(): void;
}

/** A router under a prefix: its limits, then for each route (of GET) its own. */
export interface Scope {
  readonly at: string;
  readonly limits?: readonly Limit[];
  readonly routes: Readonly<Record<string, readonly Limit[]>>;
}

/** What answers an error: the framework, what the adapter has for it, or an error handler of the service's own. */
export type Errors = 'framework' | 'adapter' | 'own';

/** A service whose routes all do the same: go through the limits, then call the handler and answer its result as JSON, or as a stream. */
export interface Service {
  /** In order, in front of everything. */
  readonly limits?: readonly Limit[];
  readonly scopes?: readonly Scope[];
  readonly handler?: (decision: Decision | undefined, answer: Answer) => unknown;
  /** Runs before the limits, and may answer. */
  readonly before?: (raw: ServerResponse) => void;
  /** Answers denied requests, in place of the limits. */
  readonly denied?: (decision: Decision, request: unknown) => unknown;
  /** Default: the framework. */
  readonly errors?: Errors;
  /** Trust X-Forwarded-For of one proxy, or of every address. */
  readonly trustProxy?: boolean | 'all';
  /** Paths of GET with a text each, and nothing else: `/search/*` is all of `/search`. The case of letters does not count. */
  readonly pages?: Readonly<Record<string, string>>;
  readonly http2?: boolean;
  /** A mistake: parse bodies only behind the limits. */
  readonly lateParser?: boolean;
  /** A mistake: create each limit again for each request. */
  readonly limitsPerRequest?: boolean;
}

export interface Running {
  readonly url: string;
  close(): Promise<void>;
}

/** What some frameworks cannot do. */
export type Ability =
  | 'trustProxy'
  | 'http2'
  /** Serve request targets that are no URLs. */
  | 'rawTargets'
  /** Call the handler of a request whose client has left before it. */
  | 'handlerAfterLeaving'
  | 'lateParser'
  | 'limitsPerRequest'
  /** Break the response of a stream that breaks. */
  | 'brokenStreams'
  /** Take the `names` of another limiter. */
  | 'names';

/** A framework of the contract. */
export interface Framework {
  /** With its major version. */
  readonly name: string;
  /**
   * Listens on 127.0.0.1, and prints nothing. The header `x-user` names the user. JSON bodies are parsed before the limits. A thrown error is
   * answered with its `status` and `headers`: if the framework ignores these, the service sets them.
   */
  serve(service: Service): Promise<Running>;
  /** The same in other settings, which the tests of started responses and of request targets also run. */
  readonly variants?: Readonly<Record<string, (service: Service) => Promise<Running>>>;
  /** The reason for each thing that it cannot do; tests that need it are skipped, with this reason. */
  readonly cannot?: Readonly<Partial<Record<Ability, string>>>;
  /** Those that only this adapter has, as `docs/options.md` lists them: `ownOptions<RateLimitOptions>({ … })`. */
  readonly ownOptions: Readonly<Record<string, true>>;
  /** The adapter's own names for a number of requests and their window, if it has such. */
  readonly names?: { readonly limit: string; readonly window: string };

  // Of what functions of a limit get first:

  headersOf(request: unknown): IncomingHttpHeaders;
  /** In upper case. */
  methodOf(request: unknown): string;
  socketOf(request: unknown): Socket;
  /** Where the adapter puts the decision. */
  decisionOf(request: unknown): unknown;
}

type Own<T> = Readonly<Record<Exclude<keyof T, keyof RequestLimitOptions<never>>, true>>;
type Undefined<T> = { readonly [K in keyof T]-?: undefined };

/** Compiles with every name of the adapter's own options, and if each option may be given as undefined. */
export const ownOptions = <T>(names: Undefined<T> extends T ? Own<T> : never): Own<T> => names;

export const nothing = () => ({ ok: true });

/** Whether a path of `Service.pages` is a prefix, and the prefix. */
export const prefixOf = (page: string): string | undefined => /^(.*)\/\*$/.exec(page)?.[1];

export async function listening(server: Server): Promise<Running> {
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections?.(); // HTTP/2 has none
      }),
  };
}
