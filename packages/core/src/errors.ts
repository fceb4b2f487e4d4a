import type { Decision } from './decision.js';
import { publicName } from './public-names.js';

/** Marks our errors across copies of this package (ESM beside CJS), where `instanceof` fails. */
const brand = Symbol.for('sluice.error');

/** A run-time error of Sluice. Its `code` is stable. Bad configuration throws a `RangeError` or `TypeError` instead. */
export abstract class SluiceError extends Error {
  abstract readonly code: string;
  readonly [brand] = true;

  override get name(): string {
    return this.constructor.name;
  }
}

/** A limit was exceeded. Web frameworks read `status`, `statusCode`, `headers` and `expose` for the response. */
export class RateLimitExceededError extends SluiceError {
  readonly code = 'SLUICE_RATE_LIMIT_EXCEEDED';
  /** 429, unless the limit has another. */
  readonly status: number;
  readonly statusCode: number;
  readonly expose = true;
  /**
   * Response headers: `Retry-After`. Adapters and decorated methods add `RateLimit` and `RateLimit-Policy` (draft 11). For a limit on requests:
   * the headers of its `standardHeaders` and `legacyHeaders`, merged with those of the response's other limits.
   */
  readonly headers: Record<string, string>;
  /** An `acquire` could not wait, because `maxWaiting` calls wait at a key already. */
  readonly queueFull: boolean;
  /** @internal Were `headers` given? Otherwise code that answers a request adds those of the decision. */
  readonly hasOwnHeaders: boolean;

  /** @param decision the decision that denied */
  constructor(
    readonly decision: Decision,
    options: Pick<Partial<RateLimitExceededError>, 'status' | 'headers' | 'queueFull'> = {},
  ) {
    super(denial(decision, options.queueFull));
    this.queueFull = options.queueFull ?? false;
    this.status = options.status ?? 429;
    this.statusCode = this.status;
    this.headers = { ...(options.headers ?? retryAfterHeader(decision)) };
    this.hasOwnHeaders = options.headers !== undefined;
  }

  /** Milliseconds until the same call can pass; `Infinity`: never. */
  get retryAfter(): number {
    return this.decision.retryAfter;
  }
}

/** `Retry-After` in whole seconds, at least 1: never before a retry can pass. None if a retry is not needed or can never pass. */
const retryAfterHeader = ({ allowed, retryAfter: ms }: Decision): Record<string, string> =>
  allowed || !Number.isFinite(ms) ? {} : { 'Retry-After': String(Math.max(1, Math.ceil(ms / 1000))) };

function denial({ name, cost, limit, retryAfter }: Decision, queueFull = false): string {
  if (queueFull) return `Rate limit '${publicName(name)}' exceeded: too many calls wait`;
  if (retryAfter === Number.POSITIVE_INFINITY) {
    return `Rate limit '${publicName(name)}': a cost of ${cost} can never pass a limit of ${limit}`;
  }
  return `Rate limit '${publicName(name)}' exceeded: retry in ${Math.ceil(retryAfter / 1000)} s`;
}

/** The client of a request is on the `denyList`. */
export class RequestForbiddenError extends SluiceError {
  readonly code = 'SLUICE_REQUEST_FORBIDDEN';
  readonly status = 403;
  readonly statusCode = 403;
  readonly expose = true;

  constructor() {
    super('Requests from here are not served');
  }
}

/** Why a store could not decide. Capitals: error codes of Redis; the last three last until the login or the rights are mended. */
export type UnavailableReason =
  | 'connection'
  | 'timeout'
  | 'closed'
  | 'LOADING'
  | 'BUSY'
  | 'OOM'
  | 'MISCONF'
  | 'READONLY'
  | 'MASTERDOWN'
  | 'NOREPLICAS'
  | 'CLUSTERDOWN'
  | 'TRYAGAIN'
  | 'NOAUTH'
  | 'WRONGPASS'
  | 'NOPERM';

/** What is wrong with the set-up of a store; `other`: see the message. */
export type ConfigurationReason = 'WRONGTYPE' | 'other';

/**
 * The store did not decide: no connection, a passed deadline, or a server that cannot serve now, or refuses the login or a right. A call
 * that timed out may have been counted, at most once. `consume` and `peek` get a decision of the failure policy instead, unless the store
 * was closed. `acquire`, `reserve` and `schedule` reject with it if that policy denies. `block`, `reset`, `penalty`, … always do.
 */
export class StoreUnavailableError extends SluiceError {
  readonly code = 'SLUICE_STORE_UNAVAILABLE';
  readonly status = 503;
  readonly statusCode = 503;
  readonly reason: UnavailableReason;
  /** The deadline had passed. */
  readonly late: boolean;
  /** True: the call certainly never left this process, had no effect and may be repeated. False: its outcome is unknown. */
  readonly neverSent: boolean;
  /** The decision of the failure policy `'deny'`. */
  readonly decision: Decision | undefined;
  readonly headers: Record<string, string> = { 'Retry-After': '1' };

  constructor(
    message: string,
    options: ErrorOptions &
      Partial<Pick<StoreUnavailableError, 'reason' | 'late' | 'neverSent' | 'decision'>> = {},
  ) {
    super(message, options);
    this.reason = options.reason ?? 'connection';
    this.late = options.late ?? false;
    this.neverSent = options.neverSent ?? false;
    this.decision = options.decision;
  }
}

/** The set-up of the store is wrong: a foreign value, no scripts, no such database. Calls reject under every failure policy until it is mended. */
export class StoreConfigurationError extends SluiceError {
  readonly code = 'SLUICE_STORE_CONFIGURATION';
  readonly reason: ConfigurationReason;

  constructor(
    message: string,
    options: { readonly reason?: ConfigurationReason; readonly cause?: unknown } = {},
  ) {
    super(message, options);
    this.reason = options.reason ?? 'other';
  }
}

/**
 * A call or a request has no key: a value is missing, or is not a plain string, number or boolean. For a request the message is safe to
 * send to clients; `cause` has the details.
 */
export class KeyResolutionError extends SluiceError {
  readonly code = 'SLUICE_KEY_RESOLUTION';
  readonly statusCode: 400 | 500;
  /** Clients may see the message: the error is in their request. */
  readonly expose: boolean;

  constructor(
    message: string,
    /** The expression that found no value, such as `#{user.id}`. */
    readonly expression?: string,
    /** 400: the request lacks a value; 500: the set-up of the server is incomplete. */
    readonly status: 400 | 500 = 400,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.statusCode = status;
    this.expose = status === 400;
  }
}

/** A shared limit has no rate: it was never set, was deleted, or expired because no call used it. */
export class RateNotSetError extends SluiceError {
  readonly code = 'SLUICE_RATE_NOT_SET';

  constructor(name: string) {
    super(`No rate is set for the shared limit '${name}': call trySetRate first`);
  }
}

/** The limiter was closed before the call or during its wait. Over HTTP: the server shuts down. */
export class LimiterClosedError extends SluiceError {
  readonly code = 'SLUICE_LIMITER_CLOSED';
  readonly status = 503;
  readonly statusCode = 503;
}

const guard =
  <E extends SluiceError>(code: E['code']) =>
  (error: unknown): error is E =>
    error instanceof Error && brand in error && (error as SluiceError).code === code;

/** Recognises also errors of another copy of this package, as all guards below do. */
export const isSluiceError = (error: unknown): error is SluiceError =>
  error instanceof Error && brand in error;
/** A limit was exceeded: see `RateLimitExceededError`. */
export const isRateLimitExceededError = guard<RateLimitExceededError>('SLUICE_RATE_LIMIT_EXCEEDED');
/** The client is on the `denyList`: see `RequestForbiddenError`. */
export const isRequestForbiddenError = guard<RequestForbiddenError>('SLUICE_REQUEST_FORBIDDEN');
/** The store did not decide: see `StoreUnavailableError`. */
export const isStoreUnavailableError = guard<StoreUnavailableError>('SLUICE_STORE_UNAVAILABLE');
/** The store refused: its set-up is wrong: see `StoreConfigurationError`. */
export const isStoreConfigurationError = guard<StoreConfigurationError>('SLUICE_STORE_CONFIGURATION');
/** A key has no value, or an invalid one: see `KeyResolutionError`. */
export const isKeyResolutionError = guard<KeyResolutionError>('SLUICE_KEY_RESOLUTION');
/** A `SharedLimiter` has no rate yet: see `RateNotSetError`. */
export const isRateNotSetError = guard<RateNotSetError>('SLUICE_RATE_NOT_SET');
/** The limiter was closed: see `LimiterClosedError`. */
export const isLimiterClosedError = guard<LimiterClosedError>('SLUICE_LIMITER_CLOSED');
