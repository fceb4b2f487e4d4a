import type { Rule } from '../algorithms/algorithm.js';
import type { Escalation } from '../algorithms/escalate-options.js';
import { type Answer, KeyCall, type Part, storageKey } from '../call/call.js';
import type { Limit } from '../call/limit.js';
import { ESCALATED } from '../telemetry/channels.js';

/**
 * The limit with an escalation, also while its store is out. A call that is not enforced keeps the rules without one.
 * @param rule,local rules of the limit, made for this
 */
export function escalating(plain: Limit, rule: Rule, local: Rule, escalation: Escalation): Limit {
  const { choose, limit } = plain.fallback!;
  return {
    ...plain,
    rule: Object.assign(rule, { escalation }),
    fallback: { choose, limit: { ...limit, rule: Object.assign(local, { escalation }) } },
    shadow: { rule: plain.rule, fallback: plain.fallback },
  };
}

/** The call, by limits that count no denial for an escalation: its caller does not enforce the decision. */
export function shadowCall(call: KeyCall): KeyCall {
  const { parts } = call;
  if (parts.every(({ limit }) => limit.shadow === undefined)) return call;
  const { operation, wait, traced, overrides } = call;
  const plain = parts.map(({ limit, key, cost, at }) => {
    return { limit: { ...limit, ...limit.shadow }, key, cost, at };
  });
  return KeyCall.of({ operation, wait, parts: plain, traced, overrides });
}

/** Publishes the blocks that a denial has set: this process made the call, so no other one publishes them. */
export function publishEscalations(limiter: string, parts: readonly Part[], answer: Answer): void {
  if (!ESCALATED.hasSubscribers) return;
  const known = new Set<string>();
  parts.forEach((part, i) => {
    const { step = 0, blocked = 0 } = answer.parts[i]!;
    const stored = storageKey(part);
    // Parts of a combination that have the same key have one answer.
    if (step === 0 || known.has(stored)) return;
    known.add(stored);
    const { limit, key } = part;
    ESCALATED.publish({ limiter, policy: limit.name, key, step, blockedFor: Math.ceil(blocked / 1000) });
  });
}
