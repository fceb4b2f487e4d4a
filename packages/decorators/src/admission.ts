import { LimitType, RateLimitExceededError } from '@sluice/core';
import { sluiceOf } from './configuration.js';
import { className } from './defining-class.js';
import { LIMITER_NAME, type Limit } from './limit.js';
import { compileMethodKey } from './method-key.js';
import type { TargetMethod } from './target-method.js';
import type { Admit } from './wrap-method.js';

/** What happens before each call of a limited method: find the limiter and the key, take a permit or refuse. */
export function admission(limit: Limit, target: TargetMethod): Admit {
  const { policy, sharedName, timeout } = limit;
  const { name, where } = target;
  const keyOf = compileMethodKey(limit, where, target.method);
  checkMethodName(limit, target);
  return async (self, args, wrapper) => {
    const owner = target.classOf(self, wrapper);
    const sluice = sluiceOf(self, owner);
    const qualifiedName = () => `${className(where, owner)}.${name}`;
    const limiter = sluice.limiter(sharedName ?? ownName(limit, where, qualifiedName()), policy);
    const key = keyOf(args, sluice, qualifiedName);
    if (timeout > 0) {
      await limiter.acquire(key, { timeout });
    } else {
      const decision = await limiter.consume(key);
      if (!decision.allowed) throw new RateLimitExceededError(decision);
    }
  };
}

/** The name of a limiter that belongs to one method. @throws TypeError when it has characters that names cannot have. */
function ownName({ prefix }: Limit, where: string, qualifiedName: string): string {
  const name = prefix + qualifiedName;
  if (LIMITER_NAME.test(name)) return name;
  throw new TypeError(
    `${where}: ${JSON.stringify(name)} cannot name a limiter, which has 1 to 100 letters, digits or . _ - : / @ #: ` +
      'give a prefix of your own',
  );
}

/** Finds at decoration what is wrong with the method's name, and its class's where that is known by then. */
function checkMethodName(limit: Limit, { name, where, definedBy }: TargetMethod): void {
  if (definedBy === undefined) {
    if (limit.sharedName === undefined) ownName(limit, where, name);
  } else if (limit.sharedName === undefined) {
    ownName(limit, where, `${className(where, definedBy)}.${name}`);
  } else if (limit.limitType === LimitType.METHOD) {
    className(where, definedBy);
  }
}
