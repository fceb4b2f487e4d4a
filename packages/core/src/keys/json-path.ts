import { JSONPath } from 'jsonpath-plus';
import type { Step } from './path-syntax.js';

/**
 * All values that a wide path such as `[*].id` finds in a document, through jsonpath-plus with evaluation off.
 * Steps come from our own parser, so no script, filter, parent or recursion operator can reach the library.
 */
export function jsonPathReader(steps: readonly Step[]): (document: unknown) => readonly unknown[] {
  const path = `$${steps.map((step) => `[${step.name}]`).join('')}`;
  return (document) => {
    if (typeof document !== 'object' || document === null) return [];
    const found = JSONPath({ path, json: document, eval: false, wrap: true, resultType: 'all' }) as Found[];
    // The library also finds the letters and the length of a string; a plain path does not.
    return found.filter(({ parent }) => typeof parent === 'object').map(({ value }) => value);
  };
}

interface Found {
  readonly value: unknown;
  readonly parent: unknown;
}
