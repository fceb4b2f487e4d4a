import { type Channel, channel, tracingChannel } from 'node:diagnostics_channel';
import type { DecisionMessage, TelemetryChannel, TelemetryMessages } from './messages.js';

/** A channel of `node:diagnostics_channel` with typed messages. Build a message only if `hasSubscribers`. */
interface TypedChannel<Message> extends Omit<Channel, 'publish'> {
  publish(message: Message): void;
}

const typed = <Name extends TelemetryChannel>(name: Name) =>
  channel(name) as unknown as TypedChannel<TelemetryMessages[Name]>;

export const DECISION = typed('sluice:decision');
export const WAIT = typed('sluice:wait');
export const LEASE = typed('sluice:lease');
export const REFUND = typed('sluice:refund');
export const STORE_CALL = typed('sluice:store-call');
export const DEGRADED = typed('sluice:degraded');
export const RECOVERED = typed('sluice:recovered');
export const STORE_ERROR = typed('sluice:store-error');

/**
 * Each `consume`, `acquire` and `peek` from its begin to its end. A call that needs no network has its `result` at `end`, another one at
 * `asyncEnd`.
 */
export const DECIDE = tracingChannel<unknown, DecisionMessage>('sluice:decide');

const { start, end, asyncStart, asyncEnd, error } = DECIDE;

/** Not `DECIDE.hasSubscribers`, which Node 20 does not have. */
export const isTraced = (): boolean =>
  start.hasSubscribers ||
  end.hasSubscribers ||
  asyncStart.hasSubscribers ||
  asyncEnd.hasSubscribers ||
  error.hasSubscribers;

/**
 * Calls `listener` with each message of a channel. Returns a function that ends that. The listener runs while the limiter waits for it,
 * so keep it short; an error that it throws is an uncaught exception, as Node does for all diagnostics channels.
 */
export function subscribe<Name extends TelemetryChannel>(
  name: Name,
  listener: (message: TelemetryMessages[Name]) => void,
): () => void {
  const subscriber = (message: unknown) => listener(message as TelemetryMessages[Name]);
  const subscribed = channel(name);
  subscribed.subscribe(subscriber);
  return () => void subscribed.unsubscribe(subscriber);
}
