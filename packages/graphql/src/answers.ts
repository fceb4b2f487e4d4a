import type { Decision } from '@sluice/core';
import { isFailureDenial } from '@sluice/core/internal';
import { type ExecutionResult, GraphQLError } from 'graphql';

/**
 * `extensions.cost` of a response, as Shopify's.
 * @param actual null for an operation that did not run
 */
export function costExtension({ limit, window, remaining, cost }: Decision, actual: number | null) {
  const currentlyAvailable = Math.max(0, Math.min(limit, remaining + (actual === null ? 0 : cost - actual)));
  // Points per second.
  const restoreRate = Math.round((limit / window) * 100_000) / 100;
  const throttleStatus = { maximumAvailable: limit, currentlyAvailable, restoreRate };
  return { requestedQueryCost: cost, actualQueryCost: actual, throttleStatus };
}

/** The answer of a decision that denied. */
export function denial(decision: Decision): ExecutionResult {
  const { cost, limit, remaining } = decision;
  // Rounded up: a retry at that moment is not too early.
  const retryAfter = Math.max(1, Math.ceil(decision.retryAfter / 1000));
  if (isFailureDenial(decision))
    return refusal('Operations cannot run at present', { code: 'SERVICE_UNAVAILABLE', retryAfter });
  const extensions = { cost: costExtension(decision, null) };
  if (!Number.isFinite(retryAfter)) {
    const text = `This operation costs ${cost}, and an operation may cost at most ${limit}`;
    return { ...refusal(text, { code: 'MAX_COST_EXCEEDED' }), extensions };
  }
  const text = `This operation costs ${cost}, and ${remaining} of ${limit} are left. Retry in ${retryAfter} s`;
  return { ...refusal(text, { code: 'THROTTLED', retryAfter }), extensions };
}

const refusal = (message: string, extensions: Record<string, unknown>): ExecutionResult => ({
  errors: [new GraphQLError(message, { extensions })],
});

const STATUS: Readonly<Record<string, number>> = { THROTTLED: 429, SERVICE_UNAVAILABLE: 503 };

/**
 * The error for HTTP. Yoga and Apollo Server take the status and headers from `extensions.http`, and do not send it.
 * @param headersOf makes an object for Yoga, a Map for Apollo
 */
export function overHttp(
  { message, extensions }: GraphQLError,
  headersOf: (entries: readonly (readonly [string, string])[]) => object,
): GraphQLError {
  const { code, retryAfter } = extensions;
  const headers = headersOf(retryAfter === undefined ? [] : [['retry-after', String(retryAfter)]]);
  // Yoga declares the type of `http` for all programs that have it, Apollo another.
  const all: Record<string, unknown> = {
    ...extensions,
    http: { status: STATUS[String(code)] ?? 400, headers },
  };
  return new GraphQLError(message, { extensions: all });
}
