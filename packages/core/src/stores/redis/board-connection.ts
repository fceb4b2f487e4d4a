import type { Script } from '../../algorithms/algorithm.js';
import { boardScript } from '../../board/board.script.js';
import type { BoardConnection, ChannelSubscriber } from '../../board/redis-board.js';
import type { StoreConfigurationError, StoreUnavailableError } from '../../errors.js';
import { ChannelSubscription } from './channel-subscription.js';
import { type RedisClient, runScript, within } from './client.js';
import { isMistake, tooLate } from './errors.js';
import { warnOfRefusedBoard } from './warnings.js';
import type { RedisWatch } from './watch.js';

/** The longest call that no decision waits for, ms. */
const LONGEST = 5_000;
/** Texts for the notice board that a client may hold for a frozen server. */
const MOST_UNANSWERED = 4;

/** Runs a script with one key, and connects first if necessary. @throws StoreUnavailableError, StoreConfigurationError */
export type RunKey = (script: Script, key: string, args: readonly string[]) => Promise<unknown>;

/** What it needs of a `Session`. */
export interface BoardSession {
  readonly address: string;
  readonly watch: RedisWatch | undefined;
  inUse(key: string): Promise<RedisClient | undefined>;
  opened(): Promise<RedisClient>;
  errorOf(error: unknown, key: string): StoreUnavailableError | StoreConfigurationError;
}

/** How the notice board of a store reaches its server. */
export class SessionBoardConnection implements BoardConnection {
  readonly #session: BoardSession;
  readonly #run: RunKey;
  #unanswered = 0;

  constructor(session: BoardSession, run: RunKey) {
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
    return inTime(this.#session, this.#run(script, key, args));
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
export const inTime = <T>({ watch }: Pick<BoardSession, 'watch'>, reply: Promise<T>): Promise<T> =>
  within(reply, () => tooLate('no answer', LONGEST, watch?.error()), LONGEST);
