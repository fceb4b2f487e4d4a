import { checkName } from '@sluice/core/internal';
import type { Class } from './defining-class.js';
import { checkParentheses } from './limitation.js';

/** Property for the skipped limits of a method or class. Registered globally, so that all copies of this package share it. */
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
 * On a method: skips the limits of its class; its own decorators still apply. On a class: skips outer limits that check `skippedLimits`,
 * such as guards. The class cannot also have a limit that it skips.
 * @param names the limits to skip; a decorated class's limit is named by its prefix without the last `:`. Default: all limits
 * @throws TypeError at decoration for anything but a method or a class, and for a name that no limit can have
 */
export function SkipLimit(...names: string[]): SkipLimitDecorator {
  const [first] = names as unknown[];
  checkParentheses('@SkipLimit', first, typeof first === 'object' ? names.slice(1) : [], "'login'");
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

/** The limits that a method, or a class or its base class, skips with `@SkipLimit(…)`: their names, or true for all. */
export function skippedLimits(target: unknown): SkippedLimits {
  return (typeof target === 'function' && (target as Marked)[SKIP]) || [];
}

/** Whether a method, or a class or its base class, skips all limits: `@SkipLimit()`. */
export function skipsLimit(target: unknown): boolean {
  return skippedLimits(target) === true;
}

/** Whether a method or a class skips the limit of this name. */
export function skipsLimitNamed(target: unknown, name: string): boolean {
  const skipped = skippedLimits(target);
  return skipped === true || skipped.includes(name);
}

/** The same for the class itself, without its base classes. */
export function hasSkipLimit(target: Class, name: string): boolean {
  return Object.hasOwn(target, SKIP) && skipsLimitNamed(target, name);
}
