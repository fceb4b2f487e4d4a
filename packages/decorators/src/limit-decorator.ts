import { admission } from './admission.js';
import { limitClass } from './class-level.js';
import type { Class } from './defining-class.js';
import type { Limitation } from './limitation.js';
import { legacyMethod, standardMethod, type TargetMethod } from './target-method.js';
import { type Method, type MethodLimit, wrapMethod } from './wrap-method.js';

type AsyncMethod = (...args: never[]) => Promise<unknown>;

/**
 * Decorates async methods, in both dialects of TypeScript. A method that returns no Promise is a compile-time error: a limit
 * may have to ask Redis, so the decorated method always returns one.
 */
export interface MethodDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: a method may declare its `this`, which only `any` accepts
  <M extends AsyncMethod>(method: M, context: ClassMethodDecoratorContext<any, any>): M;
  <M extends AsyncMethod>(
    target: object,
    name: string | symbol,
    descriptor: TypedPropertyDescriptor<M>,
  ): TypedPropertyDescriptor<M>;
}

/**
 * Decorates async methods, or a class: each of its own methods, all of which then return a Promise. The compiler cannot see
 * which methods of a class are called as if they did not: leave those out with `@SkipLimit()`.
 */
export interface LimitDecorator extends MethodDecorator {
  // biome-ignore lint/suspicious/noExplicitAny: any class
  (target: { readonly prototype: object }, context?: ClassDecoratorContext<any>): void;
}

/** @throws RangeError, TypeError when it decorates what cannot be limited so */
export function limitDecorator(limitation: Limitation): LimitDecorator {
  const { decorator } = limitation;
  const wrap = (level: MethodLimit['level'], target: TargetMethod): Method => {
    const name = `${decorator} with prefix '${limitation.sharedName ?? limitation.prefix}'`;
    return wrapMethod(target.method, { decorator, name, level, admit: admission(limitation, target) });
  };
  return ((target: unknown, where: unknown, descriptor: unknown) => {
    if (isClass(target, where, descriptor)) {
      const name = limitation.sharedName ?? limitation.prefix.replace(/:$/, '');
      return limitClass(decorator, name, target, (method) => wrap('class', method));
    }
    if (isStandardContext(where)) return wrap('method', standardMethod(decorator, target, where));
    const value = wrap('method', legacyMethod(decorator, target, where, descriptor));
    return { ...(descriptor as PropertyDescriptor), value };
  }) as LimitDecorator;
}

/** The standard dialect says so; the legacy one gives a class and nothing else. */
function isClass(target: unknown, where: unknown, descriptor: unknown): target is Class {
  if (isStandardContext(where)) return (where.kind as string) === 'class';
  return typeof target === 'function' && where === undefined && descriptor === undefined;
}

const isStandardContext = (where: unknown): where is ClassMethodDecoratorContext =>
  typeof where === 'object' && where !== null && 'kind' in where;
