/**
 * The names of draft-ietf-httpapi-ratelimit-headers-11, which was valid until 2026-11-24. What the working group may change is the table of
 * docs/headers.md: another draft with other names is another table like this one.
 */
export const DRAFT_11 = {
  policyHeader: 'RateLimit-Policy',
  stateHeader: 'RateLimit',
  quota: 'q',
  window: 'w',
  unit: 'qu',
  remaining: 'r',
  reset: 't',
  partition: 'pk',
} as const;

type Parameter = Exclude<keyof typeof DRAFT_11, 'policyHeader' | 'stateHeader'>;

/** A parameter up to its value, such as `;r=`. */
export const before = (parameter: Parameter): string => `;${DRAFT_11[parameter]}=`;
