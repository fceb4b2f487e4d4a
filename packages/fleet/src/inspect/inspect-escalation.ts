import type { Part, Store } from '@sluice/core';
import { escalatedAt, isEnvelope, JITTER, type StoredKey } from '@sluice/core/internal';

/** What repeated denials of a key have come to. The block that they have set ends at `blockedUntil`. */
export interface InspectedEscalation {
  /** Blocks set since the key was last forgiven, at most `steps`; 0: none. */
  readonly step: number;
  /** Is the key blocked by it, and not by an operator? */
  readonly blocks: boolean;
  /** Number of the durations of `block`. */
  readonly steps: number;
  /** Denials that count for the next block. */
  readonly denials: number;
  /** The denial that sets it: `after`. */
  readonly after: number;
  /** How long the next block would last, µs. */
  readonly next: number;
  /** When the key is forgiven if no other denial counts; undefined if nothing is to forgive. */
  readonly forgivenAt: number | undefined;
}

/** @throws RangeError for a value that is not ours */
export async function storedEscalation(
  store: Store,
  part: Pick<Part, 'limit' | 'key'>,
): Promise<StoredKey | undefined> {
  if (part.limit.rule.escalation === undefined) return undefined;
  const stored = await store.look!(part, 'escalation');
  const { entry } = stored;
  if (entry === undefined || (!isEnvelope(entry) && entry.length >= 4)) return stored;
  throw new RangeError('inspectKey: the key of the denials holds a foreign value');
}

export function inspectedEscalation(
  { limit }: Pick<Part, 'limit'>,
  stored: StoredKey | undefined,
  blockedUntil: number,
): InspectedEscalation | undefined {
  const { escalation } = limit.rule;
  if (escalation === undefined || stored === undefined) return undefined;
  const { entry, now } = stored;
  const state = entry === undefined || isEnvelope(entry) ? undefined : entry;
  const { step, since, denials } = escalatedAt(escalation, state, now);
  const [after, , forgive, ...lengths] = escalation as [number, number, number, ...number[]];
  return {
    step,
    steps: lengths.length,
    blocks:
      blockedUntil > now && step > 0 && denials.length === 0 && Math.abs(blockedUntil - since) <= JITTER,
    denials: denials.length,
    after,
    next: lengths[Math.min(step, lengths.length - 1)]!,
    forgivenAt: step > 0 ? since + forgive : undefined,
  };
}
