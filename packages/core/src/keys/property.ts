/**
 * Reads one step of a path, or undefined.
 *
 * Found are own properties, and accessors of a class (`get ip()` of a request or a DTO). Not found are what every
 * object inherits (`__proto__`, `constructor`, `toString`), methods, inherited plain values, and anything "inside" a
 * string, number or function. Nothing is written, and no code is generated.
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
    // The end of a chain is Object.prototype, perhaps of another realm: its `__proto__` is an accessor too.
    if (next === null) return false;
    const found = Object.getOwnPropertyDescriptor(level, name);
    if (found !== undefined) return found.get !== undefined;
    level = next;
  }
  return false;
}
