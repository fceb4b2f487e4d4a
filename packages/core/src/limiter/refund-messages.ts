import type { PolicyPart } from '../pipeline/policy-limit.js';
import { REFUND } from '../telemetry/channels.js';
import type { RefundMessage } from '../telemetry/messages.js';

/** Gives permits back, and publishes that. A settled reservation publishes its own messages: it may take more instead. */
export async function publishingRefunds(
  limiter: string,
  reason: RefundMessage['reason'],
  parts: readonly PolicyPart[],
  giveBack: (parts: readonly PolicyPart[]) => Promise<void>,
): Promise<void> {
  if (!REFUND.hasSubscribers || reason === 'settle') return giveBack(parts);
  try {
    await giveBack(parts);
  } catch (error) {
    for (const part of parts) publishRefund(limiter, reason, part, part.cost, { error });
    throw error;
  }
  for (const part of parts) publishRefund(limiter, reason, part, part.cost);
}

/** @param permits given back; negative: taken */
export function publishRefund(
  limiter: string,
  reason: RefundMessage['reason'],
  { limit, key }: PolicyPart,
  permits: number,
  { estimate, error }: { readonly estimate?: number; readonly error?: unknown } = {},
): void {
  REFUND.publish({ limiter, policy: limit.name, key, reason, permits, estimate, error });
}
