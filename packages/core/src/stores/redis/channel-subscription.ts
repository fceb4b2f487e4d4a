import type { Follower } from '../../board/board.js';
import { unref } from '../../clock.js';
import { clearTimeout, setTimeout } from '../../runtime.js';
import { isStoreRefusal } from '../../store-refusal.js';
import { type RedisClient, type Subscriber, within } from './client.js';
import { NoConnectionError, tooLate } from './errors.js';
import type { Session } from './session.js';
import { ONE_CONNECTION, openSubscriber } from './subscriber.js';

/** The longest time of a subscription, ms. */
const LONGEST = 5_000;
/** ms between two looks whether the server answers, and is still the right one. */
const EVERY = 2_000;
/** ms until the next attempt at a server that refuses: each refusal is a line in its log. */
const REFUSED = 60_000;

/** @throws StoreUnavailableError if it takes too long */
const soon = (subscribed: Promise<unknown>): Promise<unknown> =>
  within(subscribed, () => tooLate('no subscription', LONGEST), LONGEST);

/**
 * Subscribes to a channel on one server, on a connection of its own, again whenever that is lost. A publisher learns the subscribers of its
 * node only, so in a cluster it is the node of the channel's name, also after that has moved.
 */
export class ChannelSubscription {
  #connection: Subscriber | undefined;
  /** Where it is: in a cluster `host:port`; otherwise ''. */
  #node: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /** Why it is lost, if it is. */
  #lostFor: string | undefined;
  #closed = false;

  /** @param call a call to the channel's node, by which a cluster client learns where it is now */
  constructor(
    private readonly session: Session,
    private readonly channel: string,
    private readonly call: () => Promise<unknown>,
    private readonly followers: Omit<Follower, 'received'>,
    private readonly received: (text: string) => void,
  ) {
    void this.#look();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#drop();
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    let pause = EVERY;
    try {
      await this.call();
      const client = await this.session.opened();
      if (this.#closed) return;
      const name = `${client.options?.keyPrefix ?? ''}${this.channel}`;
      const node = this.session.watch!.nodeOf(this.channel);
      if (this.#connection === undefined || this.#node !== node) {
        await this.#open(this.session.watch!.connectionFor(this.channel) ?? client, node, name);
      } else {
        // Nothing else is sent on it, so it can be dead without notice.
        await soon(this.#connection.subscribe(name));
      }
      if (this.#lostFor !== undefined && !this.#closed) {
        this.#lostFor = undefined;
        this.followers.resumed();
      }
    } catch (given) {
      if (this.#closed) return;
      this.#drop();
      pause = this.#lost(given);
    } finally {
      this.#looking = false;
    }
    this.#schedule(pause);
  }

  #schedule(ms: number): void {
    if (this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(() => void this.#look(), ms));
  }

  /** @param name with the prefix of the client */
  async #open(client: RedisClient, node: string, name: string): Promise<void> {
    this.#drop();
    const connection = openSubscriber(client, 'following other processes', ONE_CONNECTION);
    this.#connection = connection;
    this.#node = node;
    connection.on('message', (_, text) => {
      if (connection === this.#connection) this.received(text);
    });
    const ended = new Promise<never>((_, reject) => {
      connection.on('end', () => {
        reject(new NoConnectionError('the connection ended'));
        if (connection !== this.#connection) return;
        this.#connection = undefined;
        // Texts are missed until it is open again, however soon that is.
        this.#lost(new NoConnectionError('the connection ended'));
        this.#schedule(0);
      });
    });
    ended.catch(() => {});
    await soon(Promise.race([connection.subscribe(name), ended]));
  }

  /** @returns ms until the next look */
  #lost(given: unknown): number {
    const error = this.session.errorOf(given, this.channel);
    if (this.#lostFor !== error.reason) {
      this.#lostFor = error.reason;
      this.followers.lost(error);
    }
    return isStoreRefusal(error) ? REFUSED : EVERY;
  }

  #drop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.disconnect();
  }
}
