import type { Class } from './defining-class.js';
import { checkParentheses } from './limitation.js';

/** Marks what class-level limits leave out; under a registered symbol, so that it is one for all copies of this package. */
const SKIP = Symbol.for('sluice.skipLimit');

/** Decorates a method or a class, in both dialects. */
export interface SkipLimitDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: any method, whatever its `this`
  (method: (...args: any[]) => unknown, context: ClassMethodDecoratorContext<any, any>): void;
  (target: object, name: string | symbol, descriptor: PropertyDescriptor): void;
  // biome-ignore lint/suspicious/noExplicitAny: any class
  (target: { readonly prototype: object }, context?: ClassDecoratorContext<any>): void;
}

/**
 * On a method: the limits of its class leave it out, so it stays as it is. Its own decorators still hold. On a class: for
 * what limits whole controllers from outside and asks `skipsLimit`, as guards do; a limit of the same class is refused.
 * @throws TypeError at decoration for anything that is neither a method nor a class
 */
export function SkipLimit(...rest: never[]): SkipLimitDecorator {
  checkParentheses('@SkipLimit', undefined, rest);
  return ((target: unknown, where?: unknown, descriptor?: PropertyDescriptor) => {
    const isClass = where === undefined || (where as ClassDecoratorContext).kind === 'class';
    const isMethod = (where as ClassMethodDecoratorContext | undefined)?.kind === 'method';
    const marked = isClass || isMethod ? target : descriptor?.value;
    if (typeof marked !== 'function') throw new TypeError('@SkipLimit is for methods and classes only');
    Object.defineProperty(marked, SKIP, { value: true, configurable: true });
  }) as SkipLimitDecorator;
}

/** Whether a method, or a class or one that it extends, has `@SkipLimit()`. */
export function skipsLimit(target: unknown): boolean {
  return typeof target === 'function' && (target as { [SKIP]?: unknown })[SKIP] === true;
}

/** The same, for the class itself and not those that it extends. */
export function hasSkipLimit(target: Class): boolean {
  return Object.hasOwn(target, SKIP);
}
