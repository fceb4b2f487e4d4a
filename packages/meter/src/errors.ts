import { isSluiceError, SluiceError } from '@sluice/core';
import { lengthText } from '@sluice/core/internal';
import type { BudgetLine } from './budget-state.js';

/** Which axis of which scope stopped a hold, and when it frees. */
export interface Denial {
  readonly axis: string;
  readonly scope: string;
  /** What may still be taken of it; below 0 after more was used than was held. */
  readonly left: number;
  readonly limit: number;
  /** ms until the same amounts fit; `Infinity`: never. */
  readonly retryAfter: number;
  /** ms until the block of its key ends; undefined: the key is not blocked. */
  readonly blockedFor?: number | undefined;
  /** All axes of all scopes. */
  readonly lines: readonly BudgetLine[];
}

/** The budget has no room for the amounts of a hold. Nothing was taken. */
export class BudgetExceededError extends SluiceError {
  readonly code = 'SLUICE_BUDGET_EXCEEDED';
  readonly status = 429;
  readonly statusCode = 429;
  readonly expose = true;
  readonly headers: Readonly<Record<string, string>>;
  readonly axis: string;
  readonly scope: string;
  readonly left: number;
  readonly limit: number;
  readonly retryAfter: number;
  /** ms until the block of its key ends; undefined: the key is not blocked. */
  readonly blockedFor: number | undefined;
  /** All axes of all scopes of the caller. */
  readonly lines: readonly BudgetLine[];

  constructor(
    /** The name of the meter. */
    readonly meter: string,
    denial: Denial,
  ) {
    const { axis, retryAfter, blockedFor, left, limit } = denial;
    const when = Number.isFinite(retryAfter)
      ? `retry in ${lengthText(Math.ceil(retryAfter))}`
      : 'the amount can never fit';
    const why =
      blockedFor !== undefined && Number.isFinite(retryAfter)
        ? `is blocked for axis '${axis}'`
        : `has ${left} of ${limit} left of axis '${axis}'`;
    super(`Budget '${meter}' ${why}: ${when}`);
    this.axis = axis;
    this.scope = denial.scope;
    this.left = left;
    this.limit = limit;
    this.retryAfter = retryAfter;
    this.blockedFor = blockedFor;
    this.lines = denial.lines;
    this.headers = Number.isFinite(retryAfter)
      ? { 'Retry-After': String(Math.max(1, Math.ceil(retryAfter / 1000))) }
      : {};
  }
}

/** Another call holds under this id, or has settled under it a short time ago. Nothing was taken. */
export class HoldInUseError extends SluiceError {
  readonly code = 'SLUICE_HOLD_IN_USE';
  readonly status = 409;
  readonly statusCode = 409;

  constructor(
    readonly meter: string,
    readonly id: string,
  ) {
    super(
      `Budget '${meter}' has a hold with the id '${id}' already: give each call an id of its own, or leave it out`,
    );
  }
}

/** The hold lapsed more than a time to live ago, and the store has forgotten it. Its rule `lapse` says what was counted. */
export class HoldLapsedError extends SluiceError {
  readonly code = 'SLUICE_HOLD_LAPSED';

  constructor(
    readonly meter: string,
    readonly id: string,
  ) {
    super(
      `Budget '${meter}' has forgotten the hold '${id}': it was not renewed for two times its ttl, or the store has lost its data. ` +
        'Call renew at least once in each ttl, or pass a longer one',
    );
  }
}

/** Recognises also errors of another copy of this package. */
export const isBudgetExceededError = (error: unknown): error is BudgetExceededError =>
  isSluiceError(error) && error.code === 'SLUICE_BUDGET_EXCEEDED';

/** Recognises also errors of another copy of this package. */
export const isHoldInUseError = (error: unknown): error is HoldInUseError =>
  isSluiceError(error) && error.code === 'SLUICE_HOLD_IN_USE';

/** Recognises also errors of another copy of this package. */
export const isHoldLapsedError = (error: unknown): error is HoldLapsedError =>
  isSluiceError(error) && error.code === 'SLUICE_HOLD_LAPSED';
