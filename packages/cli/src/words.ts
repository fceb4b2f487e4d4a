import type { Policy, StateView } from '@sluice/core';
import { count, type LimiterDefinition } from '@sluice/core/internal';
import { lengthText, policyText } from '@sluice/fleet';

export { count };

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

export const lengthOfMicros = (micros: number): string => lengthText(micros / 1_000);

/** Local time of a moment: `14:03:05`, with the date unless `now` is on the same day. Both are µs since 1970. */
export function timeOf(micros: number, now: number): string {
  const [at, today] = [new Date(micros / 1_000), new Date(now / 1_000)];
  const two = (number: number) => String(number).padStart(2, '0');
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(':');
  if (at.toDateString() === today.toDateString()) return time;
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${time}`;
}

/** `at 14:03:05, in 12 s`. */
export const momentOf = (micros: number, now: number): string =>
  `at ${timeOf(micros, now)}, in ${lengthOfMicros(Math.max(0, micros - now))}`;

/** A policy as text: `100 per 1 min (fixedWindow)`. */
export const policyOf = (policy: Policy): string => `${policyText(policy)} (${policy.algorithm})`;

/** A state as part of a sentence. */
export function stateOf(view: StateView, now: number): string {
  switch (view.kind) {
    case 'bucket': {
      const level = Math.floor(view.level * 100) / 100;
      if (view.fullAt <= now) return `${view.capacity} of ${view.capacity}: the bucket is full`;
      return `${level} of ${view.capacity} in the bucket, full ${momentOf(view.fullAt, now)}`;
    }
    case 'window':
      if (view.end === undefined) return `0 of ${view.limit} used: no window has begun`;
      return `${view.used} of ${view.limit} used in the window that ends ${momentOf(view.end, now)}`;
    case 'log': {
      const [first] = view.entries;
      const used = `${view.used} of ${view.limit} used in the last ${lengthOfMicros(view.window)}`;
      if (first === undefined) return used;
      return `${used}; the next ${count(first.permits, 'permit')} back ${momentOf(first.at + view.window, now)}`;
    }
    case 'holders':
      return `${view.held} of ${view.limit} held by ${count(view.holders.length, 'call')}, ${view.waiting.length} waiting`;
  }
}
