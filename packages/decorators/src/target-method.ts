import { describe } from '@sluice/core/internal';
import { type Class, findDefiningClass } from './defining-class.js';
import type { Method } from './wrap-method.js';

/** A method to limit, from either dialect of decorators. */
export interface TargetMethod {
  readonly method: Method;
  /** Its name in keys: `list`, `#list`, `@@list` for a symbol. */
  readonly name: string;
  /** For errors: `@RateLimit on list`. */
  readonly where: string;
  /** The class that defines it, if known at decoration: legacy decorators receive it. */
  readonly definedBy?: Class;
  /** The class that defines it, if known from the object of a call. */
  classOf(self: unknown, wrapper: Method): Class | undefined;
}

/** @throws TypeError if it is not a method, or cannot be limited */
export function standardMethod(
  decorator: string,
  method: unknown,
  context: ClassMethodDecoratorContext,
): TargetMethod {
  const name = nameOf(decorator, context.name);
  const where = `${decorator} on ${name}`;
  if (context.kind !== 'method') throw refusal(where, context.kind);
  checkMethod(where, method);
  if (context.static) {
    let owner: Class | undefined;
    context.addInitializer(function () {
      owner = this as Class;
    });
    return { method, name, where, classOf: () => owner };
  }
  if (context.private) {
    // A private method is on no prototype, so a subclass looks like the class that defines it.
    return {
      method,
      name,
      where,
      classOf: (self) => (self as { constructor?: Class } | undefined)?.constructor,
    };
  }
  return {
    method,
    name,
    where,
    classOf: (self, wrapper) => findDefiningClass(self, context.name, wrapper, where),
  };
}

/** @throws TypeError if it is not a method, or cannot be limited */
export function legacyMethod(
  decorator: string,
  target: unknown,
  key: unknown,
  descriptor: unknown,
): TargetMethod {
  const name = nameOf(decorator, key === undefined ? 'constructor' : (key as string | symbol));
  const where = `${decorator} on ${name}`;
  if (typeof descriptor === 'number') throw refusal(where, 'parameter');
  const { value, get, set } = (descriptor ?? {}) as PropertyDescriptor;
  if (get !== undefined || set !== undefined) throw refusal(where, 'accessor');
  if (value === undefined) throw refusal(where, 'field');
  checkMethod(where, value);
  const owner = (typeof target === 'function' ? target : target?.constructor) as Class;
  return { method: value, name, where, definedBy: owner, classOf: () => owner };
}

/** A method of a decorated class. @throws TypeError if it cannot be limited */
export function methodOfClass(where: string, definedBy: Class, name: string, method: Method): TargetMethod {
  checkMethod(where, method, ', or leave this one out with @SkipLimit()');
  return { method, name, where, definedBy, classOf: () => definedBy };
}

function nameOf(decorator: string, name: string | symbol | undefined): string {
  if (typeof name !== 'symbol') return String(name);
  if (!name.description) {
    throw new TypeError(`${decorator}: a method named by a symbol needs its description: Symbol('name')`);
  }
  return `@@${name.description}`;
}

function checkMethod(where: string, method: unknown, orElse = ''): asserts method is Method {
  if (typeof method !== 'function') {
    throw new TypeError(`${where}: limits a method, not ${describe(method)}`);
  }
  if (/GeneratorFunction\]$/.test(Object.prototype.toString.call(method))) {
    throw new TypeError(
      `${where}: a generator cannot wait for a decision before it starts: limit an async method that returns the generator${orElse}`,
    );
  }
}

const REMEDIES: Record<string, string> = {
  parameter: "decorate the method, with limitType: 'CUSTOM' and the parameter's name in key",
};

function refusal(where: string, kind: string): TypeError {
  const article = /^[aeiou]/.test(kind) ? 'an' : 'a';
  const remedy = REMEDIES[kind] ?? 'write it as a method: async name() { … }';
  return new TypeError(`${where}: limits methods, not ${article} ${kind}: ${remedy}`);
}
