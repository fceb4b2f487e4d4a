import type { Channel } from 'node:diagnostics_channel';
import { channel, performance, tracingChannel } from '#platform';
import { describe } from '../options.js';
import type { DecisionMessage, HoldMessage, TelemetryChannel, TelemetryMessages } from './messages.js';

/** A channel of `node:diagnostics_channel` with typed messages. Build a message only if `hasSubscribers`. */
interface TypedChannel<Message> extends Omit<Channel, 'publish'> {
  publish(message: Message): void;
}

/** All channels with typed messages. */
const CHANNELS: Pick<Channel, 'name' | 'subscribe' | 'unsubscribe'>[] = [];

function typed<Name extends TelemetryChannel>(name: Name): TypedChannel<TelemetryMessages[Name]> {
  const created = channel(name);
  CHANNELS.push(created);
  return created as unknown as TypedChannel<TelemetryMessages[Name]>;
}

export const DECISION = typed('sluice:decision');
export const WAIT = typed('sluice:wait');
export const LEASE = typed('sluice:lease');
export const ESCALATED = typed('sluice:escalated');
export const REFUND = typed('sluice:refund');
export const THRESHOLD = typed('sluice:threshold');
export const STORE_CALL = typed('sluice:store-call');
export const DEGRADED = typed('sluice:degraded');
export const RECOVERED = typed('sluice:recovered');
export const STORE_ERROR = typed('sluice:store-error');
export const RULES = typed('sluice:rules');
export const PAUSE = typed('sluice:pause');
export const HOLD = typed('sluice:hold');
typed('sluice:warning');

// Not the type of Node, which our declarations would name: newer versions of `@types/node` changed its type parameters.
type DecideChannels = Readonly<Record<'start' | 'end' | 'asyncStart' | 'asyncEnd' | 'error', Channel>>;

/**
 * Each `consume`, `acquire` and `peek` from start to end, as a `DecisionMessage`. A call that needs no network has its `result` at
 * `end`, another one at `asyncEnd`.
 */
export const DECIDE: DecideChannels = tracingChannel('sluice:decide');

const { start, end, asyncStart, asyncEnd, error } = DECIDE;

/** Not `DECIDE.hasSubscribers`, which Node 20 does not have. */
export const isTraced = (): boolean =>
  start.hasSubscribers ||
  end.hasSubscribers ||
  asyncStart.hasSubscribers ||
  asyncEnd.hasSubscribers ||
  error.hasSubscribers;

/**
 * Calls `listener` with each message of a channel, until you call the function that it returns. The call that publishes waits for the
 * listener, so keep it short. An error that it throws becomes an uncaught exception, as with all diagnostics channels, and changes no
 * decision.
 * @throws TypeError if there is no such channel: its listener would never be called
 */
export function subscribe<Name extends TelemetryChannel>(
  name: Name,
  listener: (message: TelemetryMessages[Name]) => void,
): () => void {
  if (typeof listener !== 'function') {
    throw new TypeError(`subscribe: the listener must be a function, not ${describe(listener)}`);
  }
  const subscribed = CHANNELS.find((one) => one.name === name);
  if (subscribed === undefined) {
    const names = CHANNELS.map((one) => String(one.name)).join(', ');
    throw new TypeError(`subscribe: there is no channel ${describe(name)}; the channels are ${names}`);
  }
  const subscriber = (message: unknown) => listener(message as TelemetryMessages[Name]);
  subscribed.subscribe(subscriber);
  return () => void subscribed.unsubscribe(subscriber);
}

/** Of a message: the notice board of the store that its limiter or its budget uses. A registered symbol: both copies of this package know it. */
export const BOARD = Symbol.for('sluice.board');

/** Identifies the store of a message; undefined for a store without a notice board. */
export const boardOf = (message: DecisionMessage | HoldMessage): object | undefined =>
  (message as { readonly [BOARD]?: object | undefined })[BOARD];

/** Messages that share a reading of the clock: reading it takes as long as everything else about a message. */
const SHARED = 64;

const resolved = Promise.resolve();
let now = 0;
let left = 0;

const forget = () => {
  left = 0;
};

/** ms, as of `performance.now()`. Messages of the same code, which runs without a pause, share a reading. */
export function messageTime(): number {
  if (left === 0) {
    now = performance.now();
    left = SHARED;
    void resolved.then(forget);
  }
  left -= 1;
  return now;
}
