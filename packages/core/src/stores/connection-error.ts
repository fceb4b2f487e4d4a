import { isStoreConfigurationError } from '../errors.js';
import type { RedisClient } from './redis-client.js';
import { classified } from './redis-errors.js';

/**
 * The last error of a client's connection, until that is well again. Wrong passwords, certificates and addresses are told by the
 * client's event only: its commands just have no connection.
 */
export class ConnectionError {
  #last: Error | undefined;
  #client: RedisClient | undefined;
  readonly #failed = (error?: Error): void => {
    this.#last = error;
  };
  readonly #ready = (): void => {
    this.#last = undefined;
  };

  get last(): Error | undefined {
    return this.#last;
  }

  watch(client: RedisClient): void {
    this.#client = client;
    client.on?.('error', this.#failed);
    client.on?.('ready', this.#ready);
  }

  unwatch(): void {
    this.#client?.removeListener?.('error', this.#failed);
    this.#client?.removeListener?.('ready', this.#ready);
  }

  /**
   * For who would wait for a connection: a wrong password stays wrong for longer than a deadline, and must not be taken for an outage
   * when one has passed.
   * @throws StoreConfigurationError when that is what keeps the client from connecting
   */
  tellMistake(): void {
    if (this.#last === undefined) return;
    const error = classified(this.#last);
    if (isStoreConfigurationError(error)) throw error;
  }
}
