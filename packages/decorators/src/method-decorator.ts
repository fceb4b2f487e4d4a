import { admission } from './admission.js';
import type { Limit } from './limit.js';
import { legacyMethod, standardMethod, type TargetMethod } from './target-method.js';
import { type Method, wrapMethod } from './wrap-method.js';

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

export function methodDecorator(limit: Limit): MethodDecorator {
  const wrap = (target: TargetMethod): Method =>
    wrapMethod(
      target.method,
      `${limit.decorator} with prefix '${limit.sharedName ?? limit.prefix}'`,
      admission(limit, target),
    );
  return ((target: unknown, where: unknown, descriptor: unknown) => {
    if (isStandardContext(where)) return wrap(standardMethod(limit.decorator, target, where));
    const value = wrap(legacyMethod(limit.decorator, target, where, descriptor));
    return { ...(descriptor as PropertyDescriptor), value };
  }) as MethodDecorator;
}

const isStandardContext = (where: unknown): where is ClassMethodDecoratorContext =>
  typeof where === 'object' && where !== null && 'kind' in where;
