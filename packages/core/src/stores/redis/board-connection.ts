import type { Script } from '../../algorithms/algorithm.js';
import { boardScript } from '../../board/board.script.js';
import type { BoardConnection, ChannelSubscriber } from '../../board/redis-board.js';
import { unref } from '../../clock.js';
import type { StoreConfigurationError, StoreUnavailableError } from '../../errors.js';
import { clearTimeout, setTimeout } from '../../runtime.js';
import { isStoreRefusal } from '../../store-refusal.js';
import { type RedisClient, runScript, within } from './client.js';
import { warnOfRefusedBoard } from './client-settings.js';
import { isMistake, NoConnectionError, tooLate } from './errors.js';
import type { RunKeys } from './redis-texts.js';
import type { Session } from './session.js';
import { ONE_CONNECTION, openSubscriber, type Subscriber } from './subscriber.js';

/** The longest time of a subscription, and of a call that no decision waits for, ms. */
const LONGEST = 5_000;
/** Texts for the notice board that a client may hold for a frozen server. */
const MOST_UNANSWERED = 4;

/** How the notice board of a store reaches its server. */
export class SessionBoardConnection implements BoardConnection {
  readonly #session: Session;
  readonly #run: RunKeys;
  #unanswered = 0;

  constructor(session: Session, run: RunKeys) {
    this.#session = session;
    this.#run = run;
  }

  async runNow(script: Script, key: string, args: readonly string[]): Promise<unknown> {
    const client = await this.#session.inUse(key);
    if (client === undefined || this.#unanswered >= MOST_UNANSWERED) return undefined;
    const reply = runScript(client, script, () => ({ keys: [key], args }));
    this.#unanswered += 1;
    const answered = () => {
      this.#unanswered -= 1;
    };
    reply.then(answered, answered);
    return inTime(this.#session, reply);
  }

  run(script: Script, key: string, args: readonly string[]): Promise<unknown> {
    return this.#run(script, [key], args);
  }

  areApart(key: string, other: string): boolean {
    const { watch } = this.#session;
    return watch !== undefined && watch.nodeOf(key) !== watch.nodeOf(other);
  }

  reportRefusal(error: unknown): boolean {
    return isMistake(error) && warnOfRefusedBoard(this.#session.address, error);
  }

  subscribe(channel: string, subscriber: ChannelSubscriber): () => void {
    const session = this.#session;
    const reach = async () => {
      // The answer of the channel's node: a cluster client learns where it is now.
      await this.run(boardScript, channel, ['read']);
      const client = await session.opened();
      const watch = session.watch!;
      return {
        client: watch.connectionFor(channel) ?? client,
        node: watch.nodeOf(channel),
        channel: `${client.options?.keyPrefix ?? ''}${channel}`,
      };
    };
    const errorOf = (error: unknown) => session.errorOf(error, channel);
    const subscription = new ChannelSubscription(reach, errorOf, subscriber);
    return () => subscription.close();
  }
}

/** For calls that no decision waits for: a server that is frozen would keep them without end. */
export const inTime = <T>(
  { watch, maker }: Pick<Session, 'watch' | 'maker'>,
  reply: Promise<T>,
): Promise<T> => within(reply, () => tooLate('no answer', LONGEST, watch?.error(), maker), LONGEST);

/** The server that a channel is on. */
interface ChannelServer {
  readonly client: RedisClient;
  /** In a cluster `host:port`; otherwise ''. */
  readonly node: string;
  /** With the prefix of the client. */
  readonly channel: string;
}

/** ms between two looks whether the server answers, and is still the right one. */
const EVERY = 2_000;
/** ms until the next attempt at a server that refuses: each refusal is a line in its log. */
const REFUSED = 60_000;

/** @throws StoreUnavailableError if it takes too long */
const soon = (subscribed: Promise<unknown>): Promise<unknown> =>
  within(subscribed, () => tooLate('no subscription', LONGEST), LONGEST);

/**
 * Subscribes to a channel on one server, on a connection of its own. A publisher learns the subscribers of its node only, so in a cluster
 * it must be the node of the channel's name, also after that has moved.
 */
class ChannelSubscription {
  readonly #reach: () => Promise<ChannelServer>;
  readonly #errorOf: (error: unknown) => StoreUnavailableError | StoreConfigurationError;
  readonly #subscriber: ChannelSubscriber;
  #connection: Subscriber | undefined;
  #node: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  /** Why it is lost, if it is. */
  #lostFor: string | undefined;
  #closed = false;

  /** @param reach a call to the server; resolves to its answer */
  constructor(
    reach: () => Promise<ChannelServer>,
    errorOf: (error: unknown) => StoreUnavailableError | StoreConfigurationError,
    subscriber: ChannelSubscriber,
  ) {
    this.#reach = reach;
    this.#errorOf = errorOf;
    this.#subscriber = subscriber;
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
      const server = await this.#reach();
      if (this.#closed) return;
      if (this.#connection === undefined || this.#node !== server.node) {
        await this.#open(server);
      } else {
        // Nothing else is sent on it, so it can be dead without notice.
        await soon(this.#connection.subscribe(server.channel));
      }
      if (this.#lostFor !== undefined && !this.#closed) {
        this.#lostFor = undefined;
        this.#subscriber.resumed();
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

  async #open({ client, node, channel }: ChannelServer): Promise<void> {
    this.#drop();
    const connection = openSubscriber(client, 'following other processes', ONE_CONNECTION);
    this.#connection = connection;
    this.#node = node;
    connection.on('message', (_, text) => {
      if (connection === this.#connection) this.#subscriber.message(text);
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
    await soon(Promise.race([connection.subscribe(channel), ended]));
  }

  /** @returns ms until the next look */
  #lost(given: unknown): number {
    const error = this.#errorOf(given);
    if (this.#lostFor !== error.reason) {
      this.#lostFor = error.reason;
      this.#subscriber.lost(error);
    }
    return isStoreRefusal(error) ? REFUSED : EVERY;
  }

  #drop(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.disconnect();
  }
}
