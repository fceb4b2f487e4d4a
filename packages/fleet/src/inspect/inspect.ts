import type { Limit, LimiterKey, Policy, PolicyDebug, Store } from '@sluice/core';
import {
  checkInteger,
  checkOptions,
  compileEscalation,
  compilePolicy,
  debugOf,
  decide,
  encodeKey,
  isEnvelope,
  KeyCall,
  KeyState,
  keyPart,
  LAYOUT,
  type LimiterDefinition,
  NEVER,
  type StoredKey,
} from '@sluice/core/internal';
import { type InspectedEscalation, inspectedEscalation, storedEscalation } from './inspect-escalation.js';

/** What a limiter would decide for a key, and what the store keeps of it. Moments are µs of the store's clock since 1970, lengths are µs. */
export interface InspectedKey {
  /** Time of the store's clock. */
  readonly now: number;
  /** Does the store keep anything of the key? */
  readonly known: boolean;
  /** Would a call of `cost` pass now? Permits that processes have prefetched, and their caches of denials, are not known here. */
  readonly allowed: boolean;
  /** Until it would pass; undefined if it never would. */
  readonly wait: number | undefined;
  readonly cost: number;
  readonly policies: readonly InspectedPolicy[];
}

export interface InspectedPolicy extends Omit<PolicyDebug, 'before' | 'after'> {
  readonly policy: Policy;
  /** Permits that the key can take at once when all are there. */
  readonly limit: number;
  readonly remaining: number;
  /** Would this policy alone let the call pass? */
  readonly allowed: boolean;
  /** Until this policy alone would let it pass; undefined if it never would. */
  readonly wait: number | undefined;
  /** Until all permits are there again. */
  readonly reset: number;
  /** What was taken. */
  readonly state: PolicyDebug['after'];
  /** End of an override; undefined without one. */
  readonly overrideUntil: number | undefined;
  /** Does the store keep anything of the key for this policy? */
  readonly known: boolean;
  /** Until the store forgets the key, ms; undefined if it keeps nothing. */
  readonly timeToLive: number | undefined;
  /** With the option `escalate`: the denials of the key and the blocks that they have set. */
  readonly escalation: InspectedEscalation | undefined;
}

export interface InspectOptions {
  /** Permits of the call that is looked at; default: those of the definition, 1 if it has none or they vary. */
  readonly cost?: number | undefined;
}

/**
 * Looks at one key of a limiter, and changes nothing: no permit is taken, and no key is written. A `shared` or `combined` limiter has no keys of
 * its own.
 * @throws TypeError for such a limiter, RangeError for another layout or a value that is not ours; KeyResolutionError,
 *   StoreUnavailableError, StoreConfigurationError
 */
export async function inspectKey(
  store: Store,
  definition: LimiterDefinition,
  key: LimiterKey,
  options: InspectOptions = {},
): Promise<InspectedKey> {
  checkOptions('inspectKey', options, ['cost']);
  const { cost: own } = definition;
  const cost = checkInteger('inspectKey: cost', options.cost ?? (typeof own === 'number' ? own : 1), 0);
  const limits = limitsOf(definition);
  const encoded = encodeKey(keyPart(key, `the key of limiter '${definition.name}'`));
  const parts = limits.map((limit) => ({ limit, key: encoded, cost, at: 0 }));
  if (store.look === undefined) throw new TypeError('inspectKey: this store cannot be looked at');
  const stored = await Promise.all(parts.map((part) => store.look!(part)));
  const escalations = await Promise.all(parts.map((part) => storedEscalation(store, part)));
  const now = Math.max(...stored.map((one) => one.now));
  const keyStates = parts.map((part, i) => new KeyState(part, stored[i]!.entry, now));
  const answer = decide(KeyCall.of({ operation: 'peek', wait: 0, parts, traced: true }), keyStates);
  const debugs = debugOf(parts, answer)!.policies;
  const policies = debugs.map((debug, i) =>
    inspected(
      definition.policies[limits[i]!.policy]!,
      debug,
      stored[i]!,
      answer.parts[i]!,
      now,
      inspectedEscalation(parts[i]!, escalations[i], debug.blockedUntil),
    ),
  );
  const known = policies.some((policy) => policy.known);
  return { now, known, allowed: answer.allowed, wait: waitOf(answer.wait), cost, policies };
}

function inspected(
  policy: Policy,
  { before, after: state, ...debug }: PolicyDebug,
  { entry, timeToLive }: StoredKey,
  answer: {
    readonly wait: number;
    readonly remaining: number;
    readonly reset: number;
    readonly override?: readonly number[] | undefined;
  },
  now: number,
  escalation: InspectedEscalation | undefined,
): InspectedPolicy {
  const { algorithm, limit } = compilePolicy(policy);
  const overrideUntil = entry !== undefined && isEnvelope(entry) ? entry.overrideUntil : 0;
  return {
    ...debug,
    policy,
    limit: answer.override === undefined ? limit : algorithm.figures.size(answer.override).limit,
    remaining: answer.remaining,
    allowed: answer.wait === 0,
    wait: waitOf(answer.wait),
    reset: answer.reset,
    state,
    overrideUntil: overrideUntil > now ? overrideUntil : undefined,
    known: entry !== undefined,
    timeToLive,
    escalation,
  };
}

const waitOf = (wait: number): number | undefined => (wait === NEVER ? undefined : wait);

function limitsOf({ kind, name, policies, prefixes, suffix, escalate }: LimiterDefinition): readonly Limit[] {
  const names = Object.keys(policies);
  if (names.length === 0)
    throw new TypeError(`inspectKey: limiter '${name}' (${kind}) has no keys of its own`);
  return names.map((policy) => {
    const prefix = prefixes[policy];
    if (prefix === undefined || !prefix.includes(`:${LAYOUT}:`)) {
      throw new RangeError(
        `inspectKey: limiter '${name}' stores its keys in another layout (${prefix}); this version reads ${LAYOUT}`,
      );
    }
    const escalation = escalate && compileEscalation('inspectKey', escalate);
    const rule = Object.assign(compilePolicy(policies[policy]!), { escalation });
    return { name: policy, policy, rule, prefix, suffix };
  });
}
