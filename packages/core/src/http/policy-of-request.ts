import { describe } from '../options.js';
import type { Given } from './limiters-by-policy.js';
import type { OfRequest, Policies, RequestLimitOptions, WithKey } from './request-limit-options.js';

/**
 * Asks the functions `policy` or `policies` for what a request is held to.
 * @throws TypeError when they give none: a request must never pass unlimited by accident
 */
export async function policyOfRequest<Args extends readonly unknown[]>(
  where: string,
  { policy, policies }: RequestLimitOptions<Args>,
  args: WithKey<Args>,
): Promise<Given> {
  const refused = (option: string, given: unknown, wanted: string) =>
    new TypeError(
      `${where}: the function ${option} gave ${describe(given)} for a request; it must give ${wanted} for each. ` +
        'Requests without a limit are for skip',
    );
  if (typeof policy === 'function') {
    const given = await policy(...args);
    if (typeof given?.algorithm === 'string') return { policy: given };
    throw refused('policy', given, "a policy, such as fixedWindow({ limit: 100, window: '1m' }),");
  }
  const given = await (policies as OfRequest<WithKey<Args>, Policies>)(...args);
  const each = typeof given === 'object' && given !== null ? Object.values(given) : [];
  if (each.length > 0 && each.every((one) => typeof one?.algorithm === 'string')) return { policies: given };
  throw refused('policies', given, 'policies by their names, such as { perMinute: fixedWindow({ … }) },');
}
