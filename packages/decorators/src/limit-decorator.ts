import { admission } from './admission.js';
import { limitClass } from './class-level.js';
import type { Class } from './defining-class.js';
import type { Limitation } from './limitation.js';
import { legacyMethod, standardMethod, type TargetMethod } from './target-method.js';
import { type Admit, type Method, type MethodLimit, wrapMethod } from './wrap-method.js';

/** The compiler's error for a method that is not async has this name. */
type MustBeAsync = (...args: never[]) => Promise<unknown>;

/**
 * Decorates async methods, in both dialects of TypeScript. A method that returns no Promise is a compile-time error: a decorated method
 * always returns one, because a decision may need Redis.
 */
export interface MethodDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: a method may declare its `this`, which only `any` accepts
  <M extends MustBeAsync>(method: M, context: ClassMethodDecoratorContext<any, any>): M;
  <M extends MustBeAsync>(
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): TypedPropertyDescriptor<M>;
}

/**
 * A standard (TC39) and legacy (`experimentalDecorators`) decorator for async methods, also static and private ones, and for classes. On a
 * class it limits each of the class's own methods by itself, and each of them then returns a Promise. The compiler does not check that for
 * their callers: put `@SkipLimit()` on synchronous methods.
 *
 * Calls reject with RateLimitExceededError, KeyResolutionError, StoreUnavailableError, StoreConfigurationError or LimiterClosedError.
 */
export interface LimitDecorator extends MethodDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: any class
  (target: { readonly prototype: object }, context?: ClassDecoratorContext<any>): void;
}

/** @throws RangeError, TypeError at decoration of what cannot be limited */
export const limitDecorator = (limitation: Limitation): LimitDecorator =>
  decoratorOf({
    decorator: limitation.decorator,
    title: `${limitation.decorator} with prefix '${limitation.sharedName ?? limitation.prefix}'`,
    skipName: limitation.sharedName ?? limitation.prefix.replace(/:$/, ''),
    admission: (target) => admission(limitation, target),
  });

/** A limit on methods. */
interface DecoratedLimit {
  /** Its name in errors: `@Limit`. */
  readonly decorator: string;
  /** Unique on a method. */
  readonly title: string;
  /** Its name in `@SkipLimit(name)`. */
  readonly skipName: string;
  /** @throws RangeError, TypeError for a method that cannot be limited */
  readonly admission: (target: TargetMethod) => Admit;
}

/** @throws RangeError, TypeError at decoration of what cannot be limited */
export function decoratorOf({ decorator, title, skipName, admission }: DecoratedLimit): LimitDecorator {
  const wrap = (level: MethodLimit['level'], target: TargetMethod, admit = admission(target)): Method =>
    wrapMethod(target.method, { decorator, name: title, level, admit });
  return ((target: unknown, where: unknown, descriptor: unknown) => {
    if (isClass(target, where, descriptor)) {
      return limitClass(decorator, skipName, target, (method, before) =>
        wrap('class', method, before(admission(method))),
      );
    }
    if (isStandardContext(where)) return wrap('method', standardMethod(decorator, target, where));
    const value = wrap('method', legacyMethod(decorator, target, where, descriptor));
    return { ...(descriptor as PropertyDescriptor), value };
  }) as LimitDecorator;
}

/** Standard: the context says so. Legacy: the class is the only argument. */
function isClass(target: unknown, where: unknown, descriptor: unknown): target is Class {
  if (isStandardContext(where)) return (where.kind as string) === 'class';
  return typeof target === 'function' && where === undefined && descriptor === undefined;
}

const isStandardContext = (where: unknown): where is ClassMethodDecoratorContext =>
  typeof where === 'object' && where !== null && 'kind' in where;
