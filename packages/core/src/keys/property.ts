import { jsonPath } from '#platform';
import type { Step } from './template-syntax.js';

/**
 * Reads one step of a path, or undefined.
 *
 * Finds own properties, and accessors of a class (`get ip()` of a request or a DTO). Does not find what every object inherits
 * (`__proto__`, `constructor`, `toString`), methods, inherited plain values, or anything inside a string, number or function. Writes
 * nothing, and generates no code.
 */
export function readProperty(holder: unknown, name: string): unknown {
  if (typeof holder !== 'object' || holder === null) return undefined;
  const readable = Object.hasOwn(holder, name) || (name in holder && isClassAccessor(holder, name));
  return readable ? (holder as Record<string, unknown>)[name] : undefined;
}

function isClassAccessor(holder: object, name: string): boolean {
  let level = Object.getPrototypeOf(holder) as object | null;
  while (level !== null) {
    const next = Object.getPrototypeOf(level) as object | null;
    // The last of a chain is Object.prototype, perhaps of another realm: its `__proto__` is an accessor, too.
    if (next === null) return false;
    const found = Object.getOwnPropertyDescriptor(level, name);
    if (found !== undefined) return found.get !== undefined;
    level = next;
  }
  return false;
}

/** Most values on a wide path: the library takes 18 µs for each, and the document may come from a client. */
export const MOST_VALUES = 1_000;

/**
 * Reads all values that a wide path such as `[*].id` finds in a document, through jsonpath-plus with evaluation off. `'too many'` if more
 * than 1,000 are on the path: such a document does not reach the library. Scripts, filters, parent and recursion operators do not reach it
 * either, because our own parser refuses them.
 */
export function jsonPathReader(
  steps: readonly Step[],
): (document: unknown) => readonly unknown[] | 'too many' {
  const JSONPath = jsonPath();
  const path = `$${steps.map((step) => `[${step.name}]`).join('')}`;
  return (document) => {
    if (typeof document !== 'object' || document === null) return [];
    if (valuesLeft(document, steps, 0, MOST_VALUES) < 0) return 'too many';
    const found = JSONPath({ path, json: document, eval: false, wrap: true, resultType: 'all' }) as Result[];
    // The library also finds the letters and the length of a string; a plain path does not.
    return found.filter(({ parent }) => typeof parent === 'object').map(({ value }) => value);
  };
}

/** `most` minus the values on the path from `value`; below 0: too many. A slice counts as all values. */
function valuesLeft(value: unknown, steps: readonly Step[], at: number, most: number): number {
  const step = steps[at];
  if (step === undefined || typeof value !== 'object' || value === null) return most;
  if (!step.wide) return valuesLeft(readProperty(value, step.name), steps, at + 1, most);
  const inner = Array.isArray(value) ? value : Object.values(value);
  let rest = most - inner.length;
  for (let i = 0; i < inner.length && rest >= 0; i += 1) rest = valuesLeft(inner[i], steps, at + 1, rest);
  return rest;
}

type Result = Readonly<Record<'value' | 'parent', unknown>>;
