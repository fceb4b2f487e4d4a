import { performance } from '#platform';
import {
  boardKey,
  type DenialFeed,
  type FleetBoard,
  type FleetKind,
  type FleetNote,
  type Follower,
  Followers,
  INDEX,
  MOST_BYTES,
  MOST_PROCESSES,
  newProcess,
  PROCESS,
  unread,
} from '../../board/board.js';
import { boardScript } from '../../board/board.script.js';
import type { RunKeys } from '../../board/shared-texts.js';
import { systemClock } from '../../clock.js';
import { isStoreUnavailableError } from '../../errors.js';
import { ChannelSubscription } from './channel-subscription.js';
import { runScript } from './client.js';
import { warnOfRefusedBoard } from './client-settings.js';
import { isMistake } from './errors.js';
import type { Session } from './session.js';

/** Texts that are read at once: the time limit of each begins when it is sent. */
const AT_ONCE = 500;
/** ms until a server that refused a text gets another: each refusal is a line in its log. */
const REFUSAL_PAUSE = 600_000;
/** Texts that a client may hold for a frozen server. */
const MOST_UNANSWERED = 4;

/** The board of a Redis: one key for each text, and one for the index of a kind. */
export class RedisBoard implements FleetBoard {
  readonly process = newProcess();
  closed = false;
  readonly followers = new Followers();
  feed: DenialFeed | undefined;
  restored: (() => void) | undefined;
  readonly #refusedAt = { publish: Number.NEGATIVE_INFINITY, broadcast: Number.NEGATIVE_INFINITY };
  #subscription: ChannelSubscription | undefined;
  #unanswered = 0;

  constructor(
    private readonly session: Session,
    private readonly run: RunKeys,
    readonly announces: boolean,
  ) {}

  async publish(kind: FleetKind, text: string, ttl: number): Promise<boolean> {
    const { process } = this;
    const written = await this.#now('publish', boardKey(kind, process), ['write', text, String(ttl)]);
    if (written === undefined) return false;
    return (await this.#now('publish', boardKey(kind, INDEX), ['enter', process, String(ttl)])) !== undefined;
  }

  async broadcast(text: string): Promise<boolean> {
    const { process, followers, announces } = this;
    if (text !== '') followers.received({ process, time: Math.floor(systemClock.now() / 1000), text });
    const sent = text === '' ? '' : `${process} ${text}`;
    const receivers = announces ? await this.#now('broadcast', CHANNEL, ['broadcast', sent]) : 0;
    return followers.any || Number(String(receivers ?? 0)) > 0;
  }

  follow(follower: Follower): () => void {
    if (this.closed) return () => {};
    const remove = this.followers.add(follower);
    this.#subscription ??= new ChannelSubscription(
      this.session,
      CHANNEL,
      () => this.run(boardScript, [CHANNEL], ['read']),
      this.followers,
      (text) => this.#received(text),
    );
    return () => {
      remove();
      if (!this.followers.any) this.#endSubscription();
    };
  }

  async read(kind: FleetKind): Promise<readonly FleetNote[]> {
    const reply = await this.run(boardScript, [boardKey(kind, INDEX)], ['list', String(MOST_PROCESSES)]);
    const [problem, ...listed] = (reply as unknown[]).map(String) as [string, ...string[]];
    const notes: FleetNote[] = [];
    for (let i = 0; i < listed.length; i += 2 * AT_ONCE) {
      const some = listed.slice(i, i + 2 * AT_ONCE);
      const read = some.flatMap((process, j) =>
        j % 2 === 0 ? [this.#note(kind, process, Number(some[j + 1]))] : [],
      );
      notes.push(...(await Promise.all(read)));
    }
    if (problem !== '') notes.push(unread(INDEX, problem));
    return notes.filter((note) => note.text !== '' || note.problem !== undefined);
  }

  close(): void {
    this.closed = true;
    this.feed?.close();
    this.followers.clear();
    this.#endSubscription();
  }

  #endSubscription(): void {
    this.#subscription?.close();
    this.#subscription = undefined;
  }

  /** This process has received its own broadcast already. */
  #received(message: string): void {
    const [, time, process, text] = /^(\d{1,15}) ([\w-]{1,64}) (.+)$/s.exec(message) ?? [];
    if (process === undefined || process === this.process) return;
    this.followers.received({ process, time: Number(time), text: text! });
  }

  /** Runs the script if there is a connection for its key. @returns its reply; undefined if it did not run */
  async #now(what: 'publish' | 'broadcast', key: string, args: readonly string[]): Promise<unknown> {
    if (this.closed || performance.now() - this.#refusedAt[what] < REFUSAL_PAUSE) return undefined;
    const { session } = this;
    try {
      const client = await session.inUse(key);
      if (client === undefined || this.#unanswered >= MOST_UNANSWERED) return undefined;
      const reply = runScript(client, boardScript, () => ({ keys: [key], args }));
      this.#unanswered += 1;
      const answered = () => {
        this.#unanswered -= 1;
      };
      reply.then(answered, answered);
      return await session.inTime(reply);
    } catch (error) {
      // Decisions report outages. They need other rights than the board, and may all pass.
      if (this.closed || !isMistake(error)) return undefined;
      warnOfRefusedBoard(session.address, error);
      this.#refusedAt[what] = performance.now();
      return undefined;
    }
  }

  async #note(kind: FleetKind, process: string, age: number): Promise<FleetNote> {
    if (!PROCESS.test(process) || !Number.isFinite(age))
      return unread(process, 'its entry in the index cannot be read');
    const key = boardKey(kind, process);
    let reply: unknown;
    try {
      reply = await this.run(boardScript, [key], ['read', String(MOST_BYTES)]);
    } catch (error) {
      // One node of a cluster that is out must not hide what the others have.
      const { watch } = this.session;
      const isApart = watch !== undefined && watch.nodeOf(key) !== watch.nodeOf(boardKey(kind, INDEX));
      if (!isStoreUnavailableError(error) || !isApart) throw error;
      return unread(process, 'its node is out');
    }
    return Array.isArray(reply) ? unread(process, String(reply)) : { process, age, text: String(reply) };
  }
}

/** What processes broadcast to their followers. */
const CHANNEL = 'sluice:v2:fleet:denials';
