import { createHash } from 'node:crypto';
import { type Decision, LimitType, type RateLimiter } from '@sluice/core';
import { errorOfDenial, hideName, isName, isPromise, keyText, LONGEST_NAME } from '@sluice/core/internal';
import { sluiceOf } from './configuration.js';
import { className } from './defining-class.js';
import type { CostOfCall, Limitation } from './limitation.js';
import { compileMethodKey } from './method-key.js';
import type { TargetMethod } from './target-method.js';
import type { Admit, Method } from './wrap-method.js';

/**
 * Before each call of a limited method: finds the limiter and the key, and takes permits.
 * @throws RangeError if a key uses a name that the method does not have; TypeError if the limiter cannot have its name
 */
export function admission(limitation: Limitation, target: TargetMethod): Admit {
  const { rules, sharedName, timeout, cost } = limitation;
  const { name, where } = target;
  const keyOf = compileMethodKey(limitation, where, target.method);
  const keyKind = keyKindOf(limitation);
  checkMethodName(limitation, target);
  const limiterOf = (self: unknown, wrapper: Method) => {
    const owner = target.classOf(self, wrapper);
    const sluice = sluiceOf(self, owner);
    const qualifiedName = () => `${className(where, owner)}.${name}`;
    const limiterName = sharedName ?? ownName(limitation, where, qualifiedName());
    if (sharedName === undefined) hideName(limiterName, shownName);
    return { sluice, qualifiedName, limiter: sluice.limiter(limiterName, rules, keyKind) };
  };
  const admit: Admit = async (self, args, wrapper) => {
    const { sluice, qualifiedName, limiter } = limiterOf(self, wrapper);
    const made = keyOf(args, sluice, qualifiedName);
    const key = isPromise(made) ? await made : made;
    const options = { ...costOption(cost, args), ...(timeout !== undefined && { timeout }) };
    const decision = await (timeout === undefined
      ? consumed(limiter, key, options)
      : limiter.acquire(key, options));
    return { refund: () => limiter.refund(decision), release: () => limiter.release(decision) };
  };
  const prepare = (self: unknown, wrapper: Method) => void limiterOf(self, wrapper);
  return Object.assign(admit, { prepare });
}

/** The name that clients see instead of one that the program did not choose: `countLimit-3f9a2c41`, the same in every process. */
const shownName = (name: string): string =>
  `${/^\w*/.exec(name)![0]}-${createHash('sha256').update(name).digest('hex').slice(0, 8)}`;

/** The key in its published form, as for limiters of requests. */
function keyKindOf({ limitType, key }: Limitation): string {
  if (limitType !== LimitType.CUSTOM) return limitType;
  return typeof key === 'function' ? 'a function' : keyText(key);
}

async function consumed(limiter: RateLimiter, key: string, cost: object): Promise<Decision> {
  const decision = await limiter.consume(key, cost);
  if (!decision.allowed) throw errorOfDenial(decision);
  return decision;
}

const costOption = (cost: CostOfCall | undefined, args: readonly unknown[]) =>
  cost === undefined ? {} : { cost: typeof cost === 'function' ? cost(...args) : cost };

/**
 * The name of the limiter of one method. Characters that a name cannot contain are escaped as in JavaScript, with `@` for the
 * backslash: `$` is `@u0024`.
 * @throws TypeError if it is too long
 */
function ownName({ prefix }: Limitation, where: string, qualifiedName: string): string {
  const name = prefix + qualifiedName.replace(/[^\w.:/@#-]/g, escaped);
  if (isName(name)) return name;
  throw new TypeError(
    `${where}: ${JSON.stringify(name)} is too long for the name of a limiter, which has 1 to ${LONGEST_NAME} characters: pass a prefix`,
  );
}

const escaped = (unit: string) => `@u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Checks the method's name at decoration, and the name of its class if it is known. */
function checkMethodName(limitation: Limitation, { name, where, definedBy }: TargetMethod): void {
  if (definedBy === undefined) {
    if (limitation.sharedName === undefined) ownName(limitation, where, name);
  } else if (limitation.sharedName === undefined) {
    ownName(limitation, where, `${className(where, definedBy)}.${name}`);
  } else if (limitation.limitType === LimitType.METHOD) {
    className(where, definedBy);
  }
}
