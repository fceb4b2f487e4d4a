import { type BudgetLine, type BudgetState, takable } from './budget-state.js';
import type { BudgetExceededError } from './errors.js';

/** The largest integer of RFC 9651: 15 digits. */
const LARGEST = 999_999_999_999_999;

const amount = (value: number): number => Math.min(LARGEST, Math.max(0, Math.floor(value)));
const seconds = (ms: number): number => Math.min(LARGEST, Math.ceil(ms / 1000));

/**
 * Response headers that tell a client the rest of a budget: `RateLimit-Policy` and `RateLimit` of draft-ietf-httpapi-ratelimit-headers-11, and
 * `Retry-After` of a denial. An item for each axis, such as `"ai.usd";r=49987660;t=86400`: of several scopes the one with the least left.
 * @param of `hold.state`, what `budget.status` or `hold.settle` resolves to, or the error of a denied hold
 */
export function budgetHeaders(of: BudgetState | BudgetExceededError): Record<string, string> {
  const denied = 'retryAfter' in of ? of : undefined;
  const lines = new Map<string, BudgetLine>();
  for (const line of of.lines) {
    const known = lines.get(line.axis);
    const isDenied = line.axis === denied?.axis && line.scope === denied.scope;
    if (known === undefined || isDenied || (takable(known) > takable(line) && !isOf(denied, known)))
      lines.set(line.axis, line);
  }
  const all = [...lines.values()];
  const nameOf = ({ axis }: BudgetLine) => `"${of.meter}.${axis}"`;
  const policy = all.map((line) => `${nameOf(line)};q=${amount(line.limit)}${unitOf(line)}`);
  const rest = all.map((line) => `${nameOf(line)};r=${amount(takable(line))}${resetOf(line, denied)}`);
  return { 'RateLimit-Policy': policy.join(', '), RateLimit: rest.join(', '), ...denied?.headers };
}

const isOf = (denied: BudgetExceededError | undefined, { axis, scope }: BudgetLine): boolean =>
  denied?.axis === axis && denied.scope === scope;

const unitOf = ({ window }: BudgetLine): string =>
  window === undefined ? ';qu="concurrent-requests"' : `;w=${Math.max(1, seconds(window))}`;

/** When a call that runs will end is not known. Of the axis that denied, it is the same moment as `Retry-After`. */
function resetOf(line: BudgetLine, denied: BudgetExceededError | undefined): string {
  if (denied !== undefined && isOf(denied, line) && Number.isFinite(denied.retryAfter))
    return `;t=${Math.max(1, seconds(denied.retryAfter))}`;
  return line.window === undefined ? '' : `;t=${seconds(line.moreAfter)}`;
}
