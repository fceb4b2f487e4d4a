import { limitsOf, type Method } from './wrap-method.js';

/**
 * Creates the limiters of an object's decorated methods now, not at their first calls: tools such as the live page then list them from the
 * start, and a class whose methods cannot be limited fails at start. Call it after `configureSluice`. For static methods pass the class. It leaves
 * out `#private` methods, methods that another decorator wraps, and `@Limit('rule')`, whose rules the document makes known.
 * @throws TypeError if the class has no name, or its `[SLUICE]` is not a configuration; LimiterClosedError
 */
export function prepareLimits(object: object): void {
  for (const method of methodsOf(object))
    for (const { admit } of limitsOf(method)) admit.prepare?.(object, method);
}

/** The methods that calls of an object reach: not those that a subclass overrides. */
function methodsOf(object: object): readonly Method[] {
  const methods = new Map<string | symbol, unknown>();
  for (let level = object; level !== null; level = Object.getPrototypeOf(level)) {
    const own = Object.getOwnPropertyDescriptors(level) as Record<string | symbol, PropertyDescriptor>;
    for (const name of Reflect.ownKeys(own)) if (!methods.has(name)) methods.set(name, own[name]!.value);
  }
  return [...methods.values()].filter((value) => typeof value === 'function') as Method[];
}
