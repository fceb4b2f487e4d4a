import type { Class } from './defining-class.js';
import { hasSkipLimit, skipsLimitNamed } from './skip-limit.js';
import { methodOfClass, type TargetMethod } from './target-method.js';
import { limitsOf, type Method } from './wrap-method.js';

/** What the language itself calls, and not for a Promise. */
const OF_THE_LANGUAGE = ['constructor', 'toString', 'toLocaleString', 'valueOf', 'toJSON'];

/**
 * Puts a limit on each method that a class has of its own and under a name: not on what it inherits, statics, accessors, fields,
 * private methods and those named by symbols, which protocols of the language call. Left out are methods with
 * `@SkipLimit()`, and those that the same decorator gave a limit of their own.
 * @param name with `@SkipLimit(name)` a method skips this limit and no other
 * @throws TypeError when there is no method to limit, or one that cannot be limited
 */
export function limitClass(
  decorator: string,
  name: string,
  target: Class,
  wrap: (method: TargetMethod) => Method,
): void {
  const where = `${decorator} on ${target.name || 'a class'}`;
  if (hasSkipLimit(target, name)) {
    throw new TypeError(`${where}: the class has @SkipLimit(), too: leave out one of the two`);
  }
  const methods = methodsOf(target);
  if (methods.length === 0) {
    throw new TypeError(
      `${where}: it would limit nothing, for the class has no methods of its own: write them as methods, not as fields, or ` +
        'decorate the class that defines them',
    );
  }
  for (const [methodName, descriptor] of methods) {
    const method = descriptor.value as Method;
    const own = limitsOf(method).some((limit) => limit.level === 'method' && limit.decorator === decorator);
    if (own || skipsLimitNamed(method, name)) continue;
    const value = wrap(methodOfClass(`${where}, method ${methodName}`, target, methodName, method));
    Object.defineProperty(target.prototype, methodName, { ...descriptor, value });
  }
}

const methodsOf = (target: Class) =>
  Object.entries(Object.getOwnPropertyDescriptors(target.prototype as object)).filter(
    ([name, { value }]) => typeof value === 'function' && !OF_THE_LANGUAGE.includes(name),
  );
