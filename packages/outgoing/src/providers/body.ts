import type { ResponseView } from '../reading/reading.js';

/** The body as JSON; undefined if it is none. */
export function jsonOf({ body }: ResponseView): unknown {
  if (body === '' || !/^\s*[{[]/.test(body)) return undefined;
  try {
    return JSON.parse(body);
  } catch {
    return undefined; // an error page: it says nothing
  }
}

/** The value at a path of own properties, such as `error.code`. */
export function at(value: unknown, path: string): unknown {
  let found: unknown = value;
  for (const name of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Record<string, unknown>)[name];
  }
  return found;
}

/** The text at a path; '' if it is no text. */
export const textAt = (value: unknown, path: string): string => {
  const text = at(value, path);
  return typeof text === 'string' ? text : '';
};

/** A number ≥ 0 at a path. */
export const numberAt = (value: unknown, path: string): number | undefined => {
  const number = at(value, path);
  return typeof number === 'number' && Number.isFinite(number) && number >= 0 ? number : undefined;
};
