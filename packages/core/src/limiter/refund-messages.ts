import type { Part } from '../call/call.js';
import { REFUND } from '../telemetry/channels.js';
import type { RefundMessage } from '../telemetry/messages.js';

/**
 * Returns permits of a limiter, and publishes a message for each part.
 * @param parts with the permits that they return, or for `settle` with the estimates
 * @param permitsOf the permits that a part returns; negative: takes
 */
export async function publishingRefunds(
  limiter: string,
  reason: RefundMessage['reason'],
  parts: readonly Part[],
  giveBack: () => Promise<void>,
  permitsOf: (part: Part) => number = ({ cost }) => cost,
): Promise<void> {
  if (!REFUND.hasSubscribers) return giveBack();
  const publish = (error?: unknown) => {
    for (const part of parts) {
      const { limit, key, cost } = part;
      const estimate = reason === 'settle' ? cost : undefined;
      REFUND.publish({
        limiter,
        policy: limit.name,
        key,
        reason,
        permits: permitsOf(part),
        estimate,
        error,
      });
    }
  };
  try {
    await giveBack();
  } catch (error) {
    publish(error);
    throw error;
  }
  publish();
}
