import { type Answer, type Part, storageKey } from '../call/call.js';
import { ESCALATED } from '../telemetry/channels.js';

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
