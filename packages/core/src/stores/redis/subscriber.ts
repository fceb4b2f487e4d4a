import { StoreConfigurationError } from '../../errors.js';
import type { RedisClient } from './client.js';

/** A connection that only subscribes. */
export interface Subscriber {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  on(event: 'message', listener: (channel: string, message: string) => void): unknown;
  on(event: 'ready' | 'reconnecting' | 'end', listener: () => void): unknown;
  /** @param reconnect whether to connect again */
  disconnect(reconnect?: boolean): void;
}

/**
 * Subscriptions may wait for their server: a call that waits for a release has a timeout of its own, and no command here counts anything.
 * A lost subscription is sent again; otherwise it would be neither confirmed nor refused. No ready check: ioredis 5 would run it between
 * subscriptions, which ends the connection.
 */
export const SUBSCRIBER_OPTIONS = {
  enableOfflineQueue: true,
  maxRetriesPerRequest: null,
  autoResendUnfulfilledCommands: true,
  autoResubscribe: false,
  lazyConnect: false,
  socketTimeout: undefined,
  enableReadyCheck: false,
};

/**
 * A second connection with the settings of a client.
 * @param need what cannot be done without it
 * @throws StoreConfigurationError
 */
export function openSubscriber(client: RedisClient, need: string, ...options: object[]): Subscriber {
  if (client.duplicate === undefined) {
    throw new StoreConfigurationError(
      `redis store: this client cannot duplicate() itself, which ${need} needs: use an ioredis client`,
    );
  }
  const connection = client.duplicate(...options) as Subscriber & Pick<RedisClient, 'on'>;
  // Others use the same server and report its errors.
  connection.on('error', () => {});
  return connection;
}
