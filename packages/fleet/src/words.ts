import { type LimiterDefinition, policyText } from '@sluice/core/internal';

/** The first ones, and how many more: `a, b, c and 4 more`. */
export function listText(items: readonly string[], most = 3): string {
  const more = items.length - most;
  const named = more > 0 ? [...items.slice(0, most), `${more} more`] : items;
  const [last, ...others] = [named.at(-1) ?? '', ...named.slice(0, -1)];
  return others.length === 0 ? last : `${others.join(', ')} and ${last}`;
}

/** The policies of a limiter, without their algorithms: `perMinute: 5 per 1 min + perDay: 50 per 1 d`. */
export const policiesText = ({
  policies,
  several,
}: Pick<LimiterDefinition, 'policies' | 'several'>): string =>
  Object.entries(policies)
    .map(([name, policy]) => `${several ? `${name}: ` : ''}${policyText(policy)}`)
    .join(' + ');
