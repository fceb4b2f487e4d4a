import { JSONPath } from 'jsonpath-plus';
import type { Step } from './path-syntax.js';
import { readProperty } from './property.js';

/** The most values that a wide path may lead through: the library takes 18 µs for each, and the document may come from a client. */
export const MOST_VALUES = 1_000;

/** What a wide path found: values, or more than is looked at. */
export type Found = readonly unknown[] | 'too many';

/**
 * All values that a wide path such as `[*].id` finds in a document, through jsonpath-plus with evaluation off.
 * Steps come from our own parser, so no script, filter, parent or recursion operator can reach the library; a document too wide for it does not either.
 */
export function jsonPathReader(steps: readonly Step[]): (document: unknown) => Found {
  const path = `$${steps.map((step) => `[${step.name}]`).join('')}`;
  return (document) => {
    if (typeof document !== 'object' || document === null) return [];
    if (left(document, steps, 0, MOST_VALUES) < 0) return 'too many';
    const found = JSONPath({ path, json: document, eval: false, wrap: true, resultType: 'all' }) as Result[];
    // The library also finds the letters and the length of a string; a plain path does not.
    return found.filter(({ parent }) => typeof parent === 'object').map(({ value }) => value);
  };
}

/** How many values may still be met after those on the way from `value` on; below 0: too many were. A slice counts as all. */
function left(value: unknown, steps: readonly Step[], at: number, most: number): number {
  const step = steps[at];
  if (step === undefined || typeof value !== 'object' || value === null) return most;
  if (!step.wide) return left(readProperty(value, step.name), steps, at + 1, most);
  const inner = Array.isArray(value) ? value : Object.values(value);
  let rest = most - inner.length;
  for (let i = 0; i < inner.length && rest >= 0; i += 1) rest = left(inner[i], steps, at + 1, rest);
  return rest;
}

interface Result {
  readonly value: unknown;
  readonly parent: unknown;
}
