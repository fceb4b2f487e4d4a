import { checkName } from '@sluice/core';
import type { Class } from './defining-class.js';
import { checkParentheses } from './limitation.js';

/** Holds what a method or a class skips; a registered symbol, so that it is one for all copies of this package. */
const SKIP = Symbol.for('sluice.skipLimit');

/** Names of limits, or true for all. */
export type SkippedLimits = true | readonly string[];

interface Marked {
  readonly [SKIP]?: SkippedLimits;
}

/** Decorates a method or a class, in both dialects. */
export interface SkipLimitDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: any method, whatever its `this`
  (method: (...args: any[]) => unknown, context: ClassMethodDecoratorContext<any, any>): void;
  (target: object, name: string | symbol, descriptor: PropertyDescriptor): void;
  // biome-ignore lint/suspicious/noExplicitAny: any class
  (target: { readonly prototype: object }, context?: ClassDecoratorContext<any>): void;
}

/**
 * On a method: the limits of its class leave it out. Its own decorators still hold. On a class: for what limits whole
 * controllers from outside and asks `skippedLimits`, as guards do; a limit of the same class is refused.
 * @param names the limits to skip: of a decorated class their prefixes, without the last `:`; default: all
 * @throws TypeError at decoration for anything that is neither a method nor a class, and for a name that no limit can have
 */
export function SkipLimit(...names: string[]): SkipLimitDecorator {
  const [first] = names as unknown[];
  checkParentheses('@SkipLimit', first, typeof first === 'object' ? names : []);
  for (const name of names) checkName('@SkipLimit: the name of a limit', name);
  return ((target: unknown, where?: unknown, descriptor?: PropertyDescriptor) => {
    const isClass = where === undefined || (where as ClassDecoratorContext).kind === 'class';
    const isMethod = (where as ClassMethodDecoratorContext | undefined)?.kind === 'method';
    const marked = isClass || isMethod ? target : descriptor?.value;
    if (typeof marked !== 'function') throw new TypeError('@SkipLimit is for methods and classes only');
    const before = Object.hasOwn(marked, SKIP) ? skippedLimits(marked) : [];
    const value: SkippedLimits = names.length === 0 || before === true ? true : [...before, ...names];
    Object.defineProperty(marked, SKIP, { value, configurable: true });
  }) as SkipLimitDecorator;
}

/** What a method, or a class or one that it extends, skips by `@SkipLimit(…)`: the names of limits, or true for all. */
export function skippedLimits(target: unknown): SkippedLimits {
  return (typeof target === 'function' && (target as Marked)[SKIP]) || [];
}

/** Whether a method, or a class or one that it extends, skips all limits: `@SkipLimit()`. */
export function skipsLimit(target: unknown): boolean {
  return skippedLimits(target) === true;
}

/** Whether a method or a class skips the limit of this name. */
export function skipsLimitNamed(target: unknown, name: string): boolean {
  const skipped = skippedLimits(target);
  return skipped === true || skipped.includes(name);
}

/** The same, for the class itself and not those that it extends. */
export function hasSkipLimit(target: Class, name: string): boolean {
  return Object.hasOwn(target, SKIP) && skipsLimitNamed(target, name);
}
