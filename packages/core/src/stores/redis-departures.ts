import type { RedisClient } from './redis-client.js';

/** What an ioredis client writes its commands to. Others may have none, and so may a Cluster: their commands leave as they come. */
interface Writing {
  readonly stream?: { cork(): void; uncork(): void } | undefined;
}

/** Node's own, whatever a test puts in its place: under a fake one nothing would ever leave, also nothing of others on this connection. */
const { setImmediate } = globalThis;

/** More would leave the server idle while they gather. */
const MOST_TOGETHER = 16;

/**
 * Lets commands of one turn of the event loop leave together, each still a command of its own: to write to a socket costs a
 * process as much as all the rest of a command.
 */
export class RedisDepartures {
  #stream: Writing['stream'];
  #together = 0;
  #turn: NodeJS.Immediate | undefined;

  /** @param command writes a command before it returns */
  send<T>(client: RedisClient, command: () => T): T {
    const { stream } = client as Writing;
    if (typeof stream?.cork !== 'function') return command();
    if (stream !== this.#stream) this.#gather(stream);
    this.#together += 1;
    try {
      return command();
    } finally {
      if (this.#together === MOST_TOGETHER) this.#leave();
    }
  }

  #gather(stream: NonNullable<Writing['stream']>): void {
    this.#leave(); // the connection before this one, should it have been replaced
    stream.cork();
    this.#stream = stream;
    this.#turn ??= setImmediate(() => {
      this.#turn = undefined;
      this.#leave();
    });
  }

  #leave(): void {
    this.#stream?.uncork();
    this.#stream = undefined;
    this.#together = 0;
  }
}
