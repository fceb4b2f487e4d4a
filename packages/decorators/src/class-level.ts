import type { Class } from './defining-class.js';
import { hasSkipLimit, skipsLimitNamed } from './skip-limit.js';
import { methodOfClass, type TargetMethod } from './target-method.js';
import { limitsOf, type Method } from './wrap-method.js';

/** Methods that JavaScript itself calls, and that cannot return a Promise. */
const LANGUAGE_METHODS = ['constructor', 'toString', 'toLocaleString', 'valueOf', 'toJSON'];

/**
 * Limits each of the class's own methods. Does not limit inherited and static methods, accessors, fields, private methods, methods named by
 * symbols (JavaScript calls them), methods with `@SkipLimit()`, and methods that have their own limit by the same decorator.
 * @param name the limit's name in `@SkipLimit(name)`
 * @throws TypeError if there is no method to limit, or one that cannot be limited
 */
export function limitClass(
  decorator: string,
  name: string,
  target: Class,
  wrap: (method: TargetMethod) => Method,
): void {
  const where = `${decorator} on ${target.name || 'a class'}`;
  if (hasSkipLimit(target, name)) {
    throw new TypeError(`${where}: the class also has @SkipLimit(): omit one of the two`);
  }
  const methods = methodsOf(target);
  if (methods.length === 0) {
    throw new TypeError(
      `${where}: it would limit nothing, because the class has no methods of its own: write them as methods, not as fields, or ` +
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
    ([name, { value }]) => typeof value === 'function' && !LANGUAGE_METHODS.includes(name),
  );
