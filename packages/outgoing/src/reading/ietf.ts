import { numberOf, wholeOf } from './moments.js';
import type { ObservedLimit, ResponseView } from './reading.js';
import { resetOf } from './reset.js';
import { after } from './response-view.js';
import { type Member, membersOf } from './structured-fields.js';

/** The parameters of `RateLimit` and `RateLimit-Policy` from draft 8 on. Draft 12 renames two of them: a new name is one more in its list. */
const PARAMETERS = {
  remaining: ['r', 'a'],
  reset: ['t', 'w'],
  quota: ['q'],
  window: ['w'],
  unit: ['qu'],
} as const;

/** Draft 11 spells its default unit in two ways. */
const REQUESTS = 'requests';
const UNITS: Readonly<Record<string, string>> = { request: REQUESTS };

const parameter = ({ parameters }: Member, names: readonly string[]): string | undefined =>
  names.map((name) => parameters.get(name)).find((value) => value !== undefined);

/**
 * The `RateLimit` headers of draft-ietf-httpapi-ratelimit-headers: three headers up to draft 6, a dictionary in draft 7, a list from draft 8 on.
 * @param prefix `beta-` for a service that tries the headers under such names
 */
export function ietfLimits(response: ResponseView, prefix = ''): readonly ObservedLimit[] {
  const header = (name: string) => response.header(prefix + name);
  const policiesIn = () => membersOf(header('ratelimit-policy') ?? '');
  const state = header('ratelimit');
  if (state !== undefined) {
    const members = membersOf(state);
    const policies = policiesIn();
    return members[0]?.key === undefined
      ? listed(members, policies, response)
      : dictionary(members, policies, response);
  }
  const limits = header('ratelimit-limit');
  const remaining = wholeOf(header('ratelimit-remaining'));
  const reset = resetOf(header('ratelimit-reset'), response);
  if (limits === undefined && remaining === undefined && reset === undefined) return [];
  const [limit, ...more] = membersOf(limits ?? '');
  const policies = policiesIn();
  return one(numberOf(limit?.value), remaining, reset, policies.length > 0 ? policies : more);
}

function listed(
  members: readonly Member[],
  policies: readonly Member[],
  response: ResponseView,
): ObservedLimit[] {
  return members.map((member) => {
    const policy = policies.find(({ value }) => value === member.value);
    const limit = policy && numberOf(parameter(policy, PARAMETERS.quota));
    const window = policy && numberOf(parameter(policy, PARAMETERS.window));
    const unit = (policy && parameter(policy, PARAMETERS.unit)) ?? REQUESTS;
    const remaining = wholeOf(parameter(member, PARAMETERS.remaining));
    const reset = numberOf(parameter(member, PARAMETERS.reset));
    return {
      dimension: UNITS[unit] ?? unit,
      policy: member.value,
      ...(limit !== undefined && { limit }),
      ...(window !== undefined && { window: window * 1000 }),
      ...(remaining !== undefined && { remaining }),
      ...(reset !== undefined && { resetAt: after(response, reset * 1000), resetMeans: 'window' }),
    };
  });
}

function dictionary(
  members: readonly Member[],
  policies: readonly Member[],
  response: ResponseView,
): readonly ObservedLimit[] {
  const text = (key: string) => members.find((member) => member.key === key)?.value;
  const reset = resetOf(text('reset'), response);
  return one(numberOf(text('limit')), wholeOf(text('remaining')), reset, policies);
}

/** Up to draft 7 a response states one limit. A policy of the same size has its window. */
function one(
  limit: number | undefined,
  remaining: number | undefined,
  resetAt: number | undefined,
  policies: readonly Member[],
): readonly ObservedLimit[] {
  if (limit === undefined && remaining === undefined && resetAt === undefined) return [];
  const policy = policies.find(({ value }) => numberOf(value) === limit);
  const window = policy && numberOf(parameter(policy, PARAMETERS.window));
  return [
    {
      dimension: REQUESTS,
      ...(limit !== undefined && { limit }),
      ...(window !== undefined && { window: window * 1000 }),
      ...(remaining !== undefined && { remaining }),
      ...(resetAt !== undefined && { resetAt, resetMeans: 'window' }),
    },
  ];
}
