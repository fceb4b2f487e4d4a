import type { Rule } from '../compile/rule.js';
import type { Matcher } from './matcher.js';
import type { PathPattern } from './path-pattern.js';

/**
 * Finds two rules that one request can match. Compares methods, hosts and paths only, not `header` and `not`.
 * @param rules the enforced rules
 */
export function mayMeet(rules: readonly Rule[]): readonly [Rule, Rule] | undefined {
  for (const [i, one] of rules.entries()) {
    const other = rules.slice(i + 1).find((candidate) => meet(one, candidate));
    if (other !== undefined) return [one, other];
  }
  return undefined;
}

const meet = (one: Rule, other: Rule): boolean =>
  !one.replaces.includes(other.name) &&
  !other.replaces.includes(one.name) &&
  one.matcher !== undefined &&
  other.matcher !== undefined &&
  overlap(one.matcher, other.matcher);

function overlap(one: Matcher, other: Matcher): boolean {
  return (
    some(one.methods && [...one.methods], other.methods && [...other.methods], (a, b) => a === b) &&
    some(one.hosts, other.hosts, (a, b) => a === b || a.includes('*') || b.includes('*')) &&
    some(one.paths, other.paths, pathsOverlap)
  );
}

/** A missing list contains every value. */
const some = <T>(
  ones: readonly T[] | undefined,
  others: readonly T[] | undefined,
  fit: (one: T, other: T) => boolean,
): boolean =>
  ones === undefined || others === undefined || ones.some((one) => others.some((other) => fit(one, other)));

function pathsOverlap(one: PathPattern, other: PathPattern): boolean {
  const [short, long] = one.segments.length <= other.segments.length ? [one, other] : [other, one];
  if (short.segments.length < long.segments.length && !short.rest) return false;
  return short.segments.every((segment, i) => {
    const facing = long.segments[i]!;
    if (segment.literal !== undefined) return facing.matches(segment.literal);
    return facing.literal === undefined || segment.matches(facing.literal);
  });
}
