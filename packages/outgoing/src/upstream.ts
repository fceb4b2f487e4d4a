import { AsyncLocalStorage } from 'node:async_hooks';
import { nextTick } from 'node:process';
import { type Cost, memoryStore } from '@sluice/core';
import { checkFunction, checkOptions, describe, warnOnce } from '@sluice/core/internal';
import { Beliefs } from './budget/beliefs.js';
import { Budget } from './budget/budget.js';
import { RetryBudget } from './budget/retry-budget.js';
import { accountOf } from './calls/account.js';
import { type Answered, Caller, type KnownCost } from './calls/caller.js';
import { Circuit } from './calls/circuit.js';
import { failureOfProgram } from './calls/failure.js';
import { type HeaderSource, headersOf, type OutgoingRequest } from './calls/outgoing-request.js';
import { accountKey, routeOf, scopeOfKey } from './calls/scopes.js';
import { fetchThrough } from './fetch/fetch-through.js';
import { shareEqual } from './fetch/share-equal.js';
import { PauseWaits } from './pauses/pause-waits.js';
import { Pauses } from './pauses/pauses.js';
import { Ramps } from './pauses/ramps.js';
import { providerOf, readersOf } from './providers/providers.js';
import { bodyOf, endBody } from './reading/foreign-body.js';
import type { RefusalKind, Scope } from './reading/reading.js';
import { type AnyResponse, viewOf } from './reading/response-view.js';
import { interceptorOf } from './undici/interceptor.js';
import { checkPriority, checkUpstreamOptions, type UpstreamOptions } from './upstream-options.js';

/** A pause, for people and tools. */
export interface PauseState {
  readonly scope: Scope;
  /** What `resume` takes. */
  readonly key: string;
  /** ms since 1970. */
  readonly since: number;
  readonly until: number;
  /** Why, in the words of the upstream. */
  readonly reason: string;
  /** `exhausted`: a success said that nothing is left. `unknown`: another process has paused. */
  readonly kind: RefusalKind | 'exhausted' | 'unknown';
  /** The status of the response that said so; 0: another process got it. */
  readonly status: number;
  /** The header of that response that stated the time; '' if its body did, or the documentation of the service. */
  readonly header: string;
  /** Do all processes know of it? Otherwise the store was out. */
  readonly stored: boolean;
}

/** A request of another client than fetch. */
export interface ForeignRequest {
  readonly method?: string | undefined;
  /** Absolute, or a path below the origin. */
  readonly url: string | URL;
  readonly headers?: HeaderSource | undefined;
  /** Can its body be sent again? Default: true for requests without a body. */
  readonly isReplayable?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A client of one service, which shares its budget and its pauses with all processes of its store. */
export class Upstream {
  readonly name: string;
  /** Scheme and host. */
  readonly origin: string;
  /**
   * `fetch`, for addresses of this origin, also relative ones. Waits for pauses and permits, repeats what may be repeated, and learns from each
   * response. Redirects to another origin are not followed: the response is returned.
   * @throws UpstreamPausedError if a pause outlasts `timeout`; RateLimitExceededError if the permits of `limits` do; the signal's reason;
   *   TypeError for another origin, and for a `priority` that is no number; all errors of fetch; StoreConfigurationError
   */
  readonly fetch: typeof fetch;
  readonly #caller: Caller;
  readonly #pauses: Pauses;
  readonly #budget: Budget | undefined;
  readonly #retries: RetryBudget | undefined;
  /** May a success be a refusal? */
  readonly #readsSuccess: boolean;
  readonly #ownStore: { close(): Promise<void> } | undefined;
  readonly #known = new AsyncLocalStorage<KnownCost>();

  /** @throws TypeError, RangeError naming the invalid option. Does no I/O. */
  constructor(options: UpstreamOptions) {
    const { origin, timeout, maxPause, deadline, retry } = checkUpstreamOptions(options);
    const { name, keyPrefix } = options;
    const provider = providerOf(origin.hostname);
    const store = options.store ?? memoryStore();
    this.name = name;
    this.origin = origin.origin;
    this.#ownStore = options.store === undefined ? store : undefined;
    const shared = { name, store, keyPrefix, deadline };
    this.#pauses = new Pauses({ ...shared, maxPause });
    const limits = options.limits ?? provider.limits?.() ?? {};
    const concurrency = options.concurrency ?? provider.concurrency;
    const hasLimits = Object.keys(limits).length > 0 || concurrency !== undefined;
    const { priority } = options;
    const hasPriorities = priority !== undefined;
    this.#budget = hasLimits ? new Budget({ ...shared, limits, concurrency, hasPriorities }) : undefined;
    this.#retries = retry && new RetryBudget(name, store, keyPrefix, deadline, retry.budget);
    const parts = {
      name,
      pauses: this.#pauses,
      waits: new PauseWaits(this.#pauses),
      circuit: new Circuit(this.#pauses),
      ramps: new Ramps(this.#pauses, Object.keys(limits).length > 0),
      budget: this.#budget,
      beliefs: this.#budget && new Beliefs(this.#budget),
    };
    const account = options.account ?? accountOf(name);
    const { route } = options;
    const endpoint = (request: OutgoingRequest) => {
      const { pathname } = request.url;
      if (route !== undefined) return `${request.method} ${route(request)}`;
      return provider.endpoint?.(pathname) ?? `${request.method} ${routeOf(pathname)}`;
    };
    const own = Object.keys(limits);
    const dimensions =
      options.dimensions ??
      (({ url }: OutgoingRequest) => [
        ...new Set([...(provider.dimensions?.(url.pathname) ?? ['requests']), ...own]),
      ]);
    this.#caller = new Caller({
      parts,
      knownCost: () => this.#known.getStore(),
      settleFailed: this.#settleFailed,
      timeout,
      reads: options.reads ?? readersOf(provider),
      retry: retry && { ...retry, budget: this.#retries! },
      scopes: (request) => ({
        account: accountKey(account(request)),
        route: endpoint(request),
        dimensions: dimensions(request),
      }),
      cost: options.cost ?? (options.limits === undefined ? provider.cost : undefined) ?? (() => 1),
      priority: priority === undefined ? () => 0 : (request) => checkPriority(priority(request)),
    });
    this.#readsSuccess = provider.readsSuccess === true;
    const send = fetchThrough({
      name,
      origin: this.origin,
      caller: this.#caller,
      fetch: options.fetch ?? ((...call) => globalThis.fetch(...call)),
      readsSuccess: this.#readsSuccess,
      settle: options.settle,
      settleFailed: this.#settleFailed,
    });
    const isAlone = () => this.#known.getStore() !== undefined;
    this.fetch = options.dedupe === true ? shareEqual(send, this.origin, isAlone) : send;
  }

  readonly #settleFailed = (error: unknown): void =>
    warnOnce(
      'SLUICE_REFUND_LOST',
      this.name,
      `The actual cost of a call to upstream '${this.name}' is not known, so its estimate counts: ${String(error)}`,
    );

  /**
   * Sends a request by any client, as `fetch` does by fetch: for got, axios, SDKs and gRPC gateways.
   * @param send sends the request once; called again for each retry. If it rejects with an error that has a `response`, that response is read,
   *   too. A `TypeError` or `ReferenceError` of its own is a mistake of the program: it is not repeated, and is no overload. Neither is a call
   *   that its caller has cancelled (`AbortError`, `ERR_CANCELED`)
   * @throws as `fetch` does, and what `send` throws
   */
  async run<T extends AnyResponse>(request: ForeignRequest, send: () => Promise<T>): Promise<T> {
    checkOptions('run', request, ['method', 'url', 'headers', 'isReplayable', 'signal']);
    if (typeof send !== 'function')
      throw new TypeError(`run: send must be a function, not ${describe(send)}`);
    const url = new URL(request.url, this.origin);
    if (url.origin !== this.origin)
      throw new TypeError(`upstream '${this.name}' calls ${this.origin} only, not ${url.origin}`);
    const method = (request.method ?? 'GET').toUpperCase();
    const outgoing = { method, url, headers: headersOf(request.headers) };
    const isReplayable = request.isReplayable ?? (method === 'GET' || method === 'HEAD');
    /** A client may throw what it received. */
    type Sent = { readonly response: T } | { readonly response: AnyResponse; readonly error: unknown };
    let isAtOnce = true;
    const answered: Answered<Sent> = await this.#caller.call<Sent>(outgoing, isReplayable, request.signal, {
      send: async () => {
        isAtOnce = true;
        // Runs before the next event of the event loop, so before a response can arrive.
        nextTick(() => {
          isAtOnce = false;
        });
        try {
          return { response: await send() };
        } catch (error) {
          const response = (error as { readonly response?: AnyResponse } | undefined)?.response;
          if (response?.headers === undefined) throw error;
          return { response, error };
        }
      },
      failureOf: (error) => failureOfProgram(error, isAtOnce),
      view: ({ response }, receivedAt) => viewOf(response, receivedAt, bodyOf(response)),
      discard: ({ response }) => endBody(response),
    });
    await answered.done?.();
    const { response } = answered;
    if ('error' in response) throw response.error;
    return response.response;
  }

  /**
   * Runs `work`. Each call that it makes takes this cost of `limits`, in place of the options `cost` and `settle`: for code that knows what a
   * call costs, such as `meterClient` of @sluice/meter. If `fetch` follows a redirect, the call takes this cost once, and 1 for each further hop.
   * @param cost undefined: what the options say, and `actual` counts nothing
   * @param actual the cost in truth, when the call is over; undefined: the estimate stays. If it rejects, that is a warning
   * @param sent called with true each time that a call of `work` is sent: not while it waits for its permits; with false when nothing was
   *   sent after all, or that attempt has failed and another one will follow
   * @throws TypeError if `actual` is no promise or `sent` no function; every error of `work`
   */
  withCost<T>(
    cost: Cost | undefined,
    actual: Promise<Cost | undefined>,
    work: () => T,
    sent?: (isSent: boolean) => void,
  ): T {
    if (typeof actual?.then !== 'function')
      throw new TypeError(`withCost: actual must be a promise, not ${describe(actual)}`);
    if (sent !== undefined) checkFunction('withCost: sent', sent);
    actual.then(undefined, this.#settleFailed); // no call waits for it if none is answered, or there are no limits
    return this.#known.run({ cost, actual, sent }, work);
  }

  /**
   * For undici: `new Agent().compose(github.interceptor())`. Requests to other origins pass untouched. Needs undici 7 or later.
   * Errors are those of `fetch`.
   */
  interceptor(): <D>(dispatch: D) => D {
    return interceptorOf(this.#caller, this.origin, this.#readsSuccess);
  }

  /** The pauses that this process knows of, as the store has them now. @throws StoreConfigurationError */
  async state(): Promise<readonly PauseState[]> {
    await this.#pauses.look(this.#pauses.known.map(({ key }) => key));
    return this.#pauses.known.map(({ key, since, until, reason, kind, status, header, stored }) => ({
      scope: scopeOfKey(key),
      key,
      since,
      until,
      reason,
      kind,
      status,
      header,
      stored,
    }));
  }

  /**
   * Ends a pause early, for all processes. One call goes first, as after any pause.
   * @param key as `state` shows it. Default: every pause that this process knows of
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  async resume(key?: string): Promise<void> {
    const keys = key === undefined ? this.#pauses.known.map((pause) => pause.key) : [key];
    await Promise.all(keys.map((one) => this.#pauses.resume(one)));
  }

  /**
   * Ends all waits with a `LimiterClosedError`, and closes the store if none was passed. Calls that were sent get their responses, which pause
   * nothing and are not repeated.
   */
  async close(): Promise<void> {
    await Promise.all([this.#pauses.close(), this.#budget?.close(), this.#retries?.close()]);
    await this.#ownStore?.close();
  }
}

/**
 * A client of one service, which shares its budget and its pauses with all processes of its store.
 * @throws TypeError, RangeError naming the invalid option. Does no I/O.
 */
export const upstream = (options: UpstreamOptions): Upstream => new Upstream(options);
