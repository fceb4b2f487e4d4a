import { describe } from '../options.js';
import type { Policy, Rule } from './algorithm.js';
import policyKinds from './list.js';
import type { PolicyKind } from './policy-kind.js';

export { policyKinds };

/** Each kind by itself: `Extract<EachKind, { name: 'gcra' }>`. */
export type EachKind = (typeof policyKinds)[number];

const kinds = policyKinds as readonly PolicyKind[];

/**
 * Turns a policy, which may come from a file, into a rule.
 * @throws TypeError when no algorithm has its name, RangeError when its numbers are not acceptable
 */
export function compilePolicy(policy: Policy): Rule {
  return kindOf(policy).compile(policy);
}

/** The rule for one process that has `share` of the limit, more than 0 and at most 1. */
export function compileShare(policy: Policy, share: number): Rule {
  const kind = kindOf(policy);
  return kind.compile(share === 1 ? policy : kind.shareOf(policy, share));
}

/** A policy in words, without the name of its algorithm: `100 per 1 min`. Of an unknown algorithm its numbers, as JSON. */
export function policyText(policy: Policy): string {
  const kind = kinds.find(({ name }) => name === policy.algorithm);
  if (kind !== undefined) return kind.text(policy);
  const { algorithm: _, ...numbers } = policy;
  return JSON.stringify(numbers);
}

/** The kinds of policies that `notify` accepts. */
export const kindsWithWindows: readonly string[] = kinds.flatMap(({ name, hasWindows }) =>
  hasWindows ? [name] : [],
);

/** The kinds of policies that `prefetch` accepts, as an error names them. */
export const kindsToPrefetch: string = kinds
  .flatMap(({ name, prefetches }) => {
    if (prefetches === undefined) return [];
    return prefetches === true ? name : `${name} (${prefetches})`;
  })
  .join(', ');

/** Thresholds need windows. @throws TypeError for another algorithm */
export function checkWindows(where: string, name: string, { algorithm }: Policy): void {
  if (kindsWithWindows.includes(algorithm)) return;
  throw new TypeError(
    `${where}: notify is for ${kindsWithWindows.join(', ')}, whose permits are counted in windows with a beginning and an end. Policy '${name}' has ` +
      'none, so a threshold would be reached again and again',
  );
}

function kindOf(policy: Policy): PolicyKind {
  const kind = kinds.find(({ name }) => name === policy?.algorithm);
  if (kind !== undefined) return kind;
  const names = kinds.map(({ name }) => `${name}({ … })`).join(', ');
  const given = typeof policy === 'object' && policy !== null;
  const factory = kinds.find(({ name }) => name === (policy as { name?: unknown } | undefined)?.name);
  if (typeof policy === 'function' && factory !== undefined)
    throw new TypeError(`policy is the function ${factory.name} itself: call it, ${factory.name}({ … })`);
  throw new TypeError(
    `policy must be made by one of ${names}, not ${describe(policy)}${given ? ` with algorithm ${describe(policy.algorithm)}` : ''}`,
  );
}
