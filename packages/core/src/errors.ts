import type { Decision } from './decision.js';
import { decisionHeaders } from './decision-headers.js';

/** Marks our errors across copies of this package (ESM beside CJS), where `instanceof` fails. */
const brand = Symbol.for('sluice.error');

/** What every run-time error of Sluice has: a stable `code`. Bad configuration throws `RangeError` or `TypeError` instead. */
export abstract class SluiceError extends Error {
  abstract readonly code: string;
  readonly [brand] = true;

  override get name(): string {
    return this.constructor.name;
  }
}

/**
 * A limit was exceeded. Has what a web framework needs to answer: `status` and `statusCode` (429, unless the limit has
 * another), `headers` and `expose`.
 */
export class RateLimitExceededError extends SluiceError {
  readonly code = 'SLUICE_RATE_LIMIT_EXCEEDED';
  readonly status: number;
  readonly statusCode: number;
  readonly expose = true;
  /**
   * Headers for the response: `Retry-After`, `RateLimit` and `RateLimit-Policy`. For a limit on requests: the headers of its
   * `standardHeaders` and `legacyHeaders`, merged with those of the response's other limits.
   */
  readonly headers: Record<string, string>;

  constructor(
    /** The decision that denied. */
    readonly decision: Decision,
    options: {
      /** Default 429. */
      readonly status?: number;
      /** Default: `Retry-After`, `RateLimit` and `RateLimit-Policy` (draft 11) of the decision. */
      readonly headers?: Readonly<Record<string, string>>;
    } = {},
  ) {
    super(denial(decision));
    this.status = options.status ?? 429;
    this.statusCode = this.status;
    this.headers = { ...(options.headers ?? decisionHeaders(decision)) };
  }

  /** Milliseconds until the same call can pass; `Infinity` when it never can. */
  get retryAfter(): number {
    return this.decision.retryAfter;
  }
}

function denial({ name, cost, limit, retryAfter }: Decision): string {
  if (retryAfter === Number.POSITIVE_INFINITY) {
    return `Rate limit '${name}': a cost of ${cost} can never pass a limit of ${limit}`;
  }
  return `Rate limit '${name}' exceeded: retry in ${Math.ceil(retryAfter / 1000)} s`;
}

/** A request came from whom a `denyList` turns away. */
export class RequestForbiddenError extends SluiceError {
  readonly code = 'SLUICE_REQUEST_FORBIDDEN';
  readonly status = 403;
  readonly statusCode = 403;
  readonly expose = true;

  constructor() {
    super('Requests from here are not served');
  }
}

/** Why a store could not decide: its network, or what its server said. In capitals what Redis calls it. */
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
  | 'TRYAGAIN';

/** How a store is set up wrongly; `other` is what the message says. */
export type ConfigurationReason = 'WRONGTYPE' | 'NOPERM' | 'WRONGPASS' | 'NOAUTH' | 'other';

/**
 * The store did not answer: no connection, a deadline passed, or a server that cannot serve now. Whether a call that
 * timed out was counted is unknown; it is counted at most once. Callers meet it where the failure policy is `'deny'` and there
 * is no decision to deny with, and where a call is no decision: `block`, `reset`, `penalty`, …
 */
export class StoreUnavailableError extends SluiceError {
  readonly code = 'SLUICE_STORE_UNAVAILABLE';
  readonly status = 503;
  readonly statusCode = 503;
  readonly reason: UnavailableReason;
  /** Had the deadline passed? */
  readonly late: boolean;
  /** True: the call certainly never left this process, had no effect and may be repeated. False: its outcome is unknown. */
  readonly neverSent: boolean;
  /** Of the failure policy `'deny'`: its decision. */
  readonly decision: Decision | undefined;
  /** Ready to be set on a response: `Retry-After`. */
  readonly headers: Record<string, string> = { 'Retry-After': '1' };

  constructor(
    message: string,
    options: {
      readonly reason?: UnavailableReason;
      readonly late?: boolean;
      readonly neverSent?: boolean;
      readonly decision?: Decision;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.reason = options.reason ?? 'connection';
    this.late = options.late ?? false;
    this.neverSent = options.neverSent ?? false;
    this.decision = options.decision;
  }
}

/**
 * The store answered that it is set up wrongly: a foreign key under ours, a missing right, a wrong password. No failure policy
 * speaks for it: it is told to every caller until it is mended.
 */
export class StoreConfigurationError extends SluiceError {
  readonly code = 'SLUICE_STORE_CONFIGURATION';
  readonly reason: ConfigurationReason;

  constructor(
    message: string,
    options: { readonly reason?: ConfigurationReason; readonly cause?: unknown } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined);
    this.reason = options.reason ?? 'other';
  }
}

/**
 * No key could be made from a call or a request: a value is missing, or is not a plain string, number or boolean. For a request the
 * message is safe to send to clients; `cause` says more.
 */
export class KeyResolutionError extends SluiceError {
  readonly code = 'SLUICE_KEY_RESOLUTION';
  readonly statusCode: 400 | 500;
  /** May clients see the message? What is wrong with their request, yes. */
  readonly expose: boolean;

  constructor(
    message: string,
    /** The expression that found no value, such as `#{user.id}`. */
    readonly expression?: string,
    /** 400: the request lacks something; 500: the server was not set up to know. */
    readonly status: 400 | 500 = 400,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.statusCode = status;
    this.expose = status === 400;
  }
}

/** A shared limit has no rate (any more): nobody called `trySetRate` or `setRate`, or it was deleted or not used for too long. */
export class RateNotSetError extends SluiceError {
  readonly code = 'SLUICE_RATE_NOT_SET';

  constructor(name: string) {
    super(`No rate is set for the shared limit '${name}': call trySetRate first`);
  }
}

/** The limiter was closed before or while the call was waiting: over HTTP a server that shuts down. */
export class LimiterClosedError extends SluiceError {
  readonly code = 'SLUICE_LIMITER_CLOSED';
  readonly status = 503;
  readonly statusCode = 503;
}

const guard =
  <E extends SluiceError>(code: E['code']) =>
  (error: unknown): error is E =>
    error instanceof Error && brand in error && (error as SluiceError).code === code;

/** Is it one of ours, also of another copy of this package? So do the guards of each kind that follow. */
export const isSluiceError = (error: unknown): error is SluiceError =>
  error instanceof Error && brand in error;
export const isRateLimitExceededError = guard<RateLimitExceededError>('SLUICE_RATE_LIMIT_EXCEEDED');
export const isRequestForbiddenError = guard<RequestForbiddenError>('SLUICE_REQUEST_FORBIDDEN');
export const isStoreUnavailableError = guard<StoreUnavailableError>('SLUICE_STORE_UNAVAILABLE');
export const isStoreConfigurationError = guard<StoreConfigurationError>('SLUICE_STORE_CONFIGURATION');
export const isKeyResolutionError = guard<KeyResolutionError>('SLUICE_KEY_RESOLUTION');
export const isRateNotSetError = guard<RateNotSetError>('SLUICE_RATE_NOT_SET');
export const isLimiterClosedError = guard<LimiterClosedError>('SLUICE_LIMITER_CLOSED');
