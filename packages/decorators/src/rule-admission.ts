import { type Cost, type Decision, type Duration, LimitType, type RateLimiter } from '@sluice/core';
import { errorOfDenial, isKeyWord, isPromise, keyText } from '@sluice/core/internal';
import { type NamedRule, warnOfDryRun } from '@sluice/http';
import { sluiceOf } from './configuration.js';
import { className } from './defining-class.js';
import type { KeyOfCalls } from './limitation.js';
import { compileMethodKey, type KeyOfCall, scopeOfCalls } from './method-key.js';
import type { TargetMethod } from './target-method.js';
import type { Admit } from './wrap-method.js';

/** A limit by the name of its rule. */
export interface RuleLimit {
  readonly rule: string;
  /** Undefined: the key of the rule. */
  readonly key: KeyOfCalls | undefined;
  readonly params: readonly string[] | undefined;
  /** The longest wait for permits, 0 for none; undefined: the timeout of the rule. */
  readonly timeout: Duration | undefined;
}

/** The key, cost and plan of a call under one rule. */
interface RuledCall {
  readonly limiter: RateLimiter;
  readonly key: string;
  readonly options: { readonly cost?: Cost };
}

/** A decision, and the limiter that made it. */
interface Taken {
  readonly limiter: RateLimiter;
  readonly decision: Decision;
}

/** The most keys that are compiled for one method: each version of the rules can have another key. */
const MOST_KEYS = 100;

/**
 * Before each call of a limited method: finds its rule among the current ones, and takes permits. Shadow rules are counted in the same turn.
 * @throws RangeError if the decorator's own key uses a name that the method does not have
 */
export function ruleAdmission(
  { rule, key: ownKey, params, timeout }: RuleLimit,
  target: TargetMethod,
): Admit {
  const { name, where, method } = target;
  const compile = (key: KeyOfCalls): KeyOfCall => {
    const parts = isKeyWord(key) ? { limitType: key, key: '' } : { limitType: LimitType.CUSTOM, key };
    return compileMethodKey({ ...parts, params }, where, method);
  };
  const own = ownKey === undefined ? undefined : compile(ownKey);
  const compiled = new Map<string, KeyOfCall>();
  const keyOf = (key: string | readonly string[]): KeyOfCall => {
    if (own !== undefined) return own;
    const id = keyText(key);
    let of = compiled.get(id);
    if (of === undefined) {
      of = compile(key);
      if (compiled.size >= MOST_KEYS) compiled.clear();
      compiled.set(id, of);
    }
    return of;
  };
  const scopeOf = scopeOfCalls(params, where, method);
  return async (self, args, wrapper) => {
    const owner = target.classOf(self, wrapper);
    const sluice = sluiceOf(self, owner);
    const named = sluice.rule(rule, where);
    const scope = scopeOf(args, sluice, `plan or the cost of rule '${rule}'`);
    const callOf = async (one: NamedRule): Promise<RuledCall> => {
      const qualifiedName = () => `${className(where, owner)}.${name}`;
      const made = keyOf(one.key)(args, sluice, qualifiedName, one.ipv6Subnet);
      const key = isPromise(made) ? await made : made;
      const cost = one.cost(scope);
      return { limiter: one.limiter(scope), key, options: cost === undefined ? {} : { cost } };
    };
    const isShadow = named.mode === 'shadow';
    const enforced = isShadow ? undefined : await callOf(named);
    const resolved = await Promise.all(
      (isShadow ? [named] : named.shadows).map((one) =>
        callOf(one).catch((error) => warnOfDryRun(one.name, error)),
      ),
    );
    // From here on in one turn: one call to the store.
    const shadows = resolved.flatMap((call) => (call ? [countShadow(call)] : []));
    const permits = (own?: Taken) => ({
      refund: () => giveBack('refund', own, shadows),
      release: () => giveBack('release', own, shadows),
    });
    if (enforced === undefined) return permits();
    try {
      return permits({ limiter: enforced.limiter, decision: await take(enforced, timeout ?? named.timeout) });
    } catch (error) {
      await permits().release();
      throw error;
    }
  };
}

/** @throws RateLimitExceededError, StoreUnavailableError */
async function take({ limiter, key, options }: RuledCall, timeout: Duration | undefined): Promise<Decision> {
  if (timeout !== undefined && timeout !== 0) return limiter.acquire(key, { ...options, timeout });
  const decision = await limiter.consume(key, options);
  if (!decision.allowed) throw errorOfDenial(decision);
  return decision;
}

/** An error of a shadow rule must not affect the call. */
async function countShadow({ limiter, key, options }: RuledCall): Promise<Taken | undefined> {
  try {
    return { limiter, decision: await limiter.consume(key, { ...options, shadow: true }) };
  } catch (error) {
    warnOfDryRun(limiter.name, error);
    return undefined;
  }
}

async function giveBack(
  how: 'refund' | 'release',
  own: Taken | undefined,
  shadows: readonly Promise<Taken | undefined>[],
): Promise<void> {
  const back = async (taken: Promise<Taken | undefined> | Taken | undefined) => {
    const { limiter, decision } = (await taken) ?? {};
    if (decision !== undefined) await limiter?.[how](decision);
  };
  await Promise.all([back(own), ...shadows.map((taken) => back(taken).catch(() => {}))]);
}
