import { addSkippableName, warnOfUnknownSkips } from '@sluice/http';
import type { Class } from './defining-class.js';
import { hasSkipLimit, skippedLimits, skipsLimitNamed } from './skip-limit.js';
import { methodOfClass, type TargetMethod } from './target-method.js';
import { type Admit, limitsOf, type Method } from './wrap-method.js';

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
  wrap: (method: TargetMethod, before: (admit: Admit) => Admit) => Method,
): void {
  addSkippableName(name);
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
    const value = wrap(methodOfClass(`${where}, method ${methodName}`, target, methodName, method), (admit) =>
      checkingSkips(method, admit),
    );
    Object.defineProperty(target.prototype, methodName, { ...descriptor, value });
  }
}

/** Looks at the names when the method is called, because the class may get further limits. */
function checkingSkips(method: Method, admit: Admit): Admit {
  const skipped = skippedLimits(method);
  if (skipped === true || skipped.length === 0) return admit;
  const checking: Admit = (...call) => {
    warnOfUnknownSkips(skipped);
    return admit(...call);
  };
  return Object.assign(checking, admit);
}

const methodsOf = (target: Class) =>
  Object.entries(Object.getOwnPropertyDescriptors(target.prototype as object)).filter(
    ([name, { value }]) => typeof value === 'function' && !LANGUAGE_METHODS.includes(name),
  );
