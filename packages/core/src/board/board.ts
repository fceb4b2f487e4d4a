import { randomUUID } from '#platform';
import type { Clock } from '../clock.js';
import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';

/**
 * `definitions`: the limiters of a process. `usage`: its decisions, and the keys that were denied most. `pauses`: why its upstreams are paused.
 */
export type FleetKind = 'definitions' | 'usage' | 'pauses';

/** The text of one process. */
export interface FleetNote {
  readonly process: string;
  /** ms since it was published, by the store's clock. */
  readonly age: number;
  readonly text: string;
  /** Why the text was not read: then it is empty. */
  readonly problem?: string | undefined;
}

/** Sends the denials of a process to readers. */
export interface DenialFeed {
  /** Does it look for readers in other processes? */
  readonly sends: boolean;
  /** The store has answered: from now on it looks for readers in other processes. */
  start(): void;
  close(): void;
}

/** The most bytes of a text that is read: longer ones are not even transferred. Processes publish shorter ones. */
export const MOST_BYTES = 1_000_000;

/**
 * The notice board of all processes that use a store: each publishes one short text of each kind, off the request path. No decision waits
 * for it or fails with it.
 */
export interface FleetBoard {
  /** Random id of this store object. */
  readonly process: string;
  /** Does this process publish its limiters? */
  readonly announces: boolean;
  /** Was the store closed? Then nothing is published any more. */
  readonly closed: boolean;
  /**
   * Replaces the text of this process; it expires after `ttl` ms. Connects nothing and queues nothing: resolves to false if the text was
   * not stored, because the store was not used yet, or is out, closed, or refuses it. Never rejects.
   */
  publish(kind: FleetKind, text: string, ttl: number): Promise<boolean>;
  /**
   * The texts of all processes that have not expired, the latest first. Connects if necessary.
   * @throws StoreUnavailableError, StoreConfigurationError
   */
  read(kind: FleetKind): Promise<readonly FleetNote[]>;
  /** Called when there is a connection again, or the store answers again: it may have lost the texts of this process. */
  restored?: (() => void) | undefined;
  /** Those of this process. */
  readonly followers: Followers;
  /** Sends the denials of this process to followers, once something needs it. Closes with the board. */
  feed: DenialFeed | undefined;
  /**
   * Sends a text to all followers, in this and other processes; an empty one only finds out whether there are any. Nothing is kept for later.
   * Resolves to whether anyone follows; to false if it could not be sent. Never rejects.
   */
  broadcast(text: string): Promise<boolean>;
  /** Receives what the processes broadcast from now on, also while the store is out now. Returns a function that ends it. */
  follow(follower: Follower): () => void;
}

export const newProcess = (): string => randomUUID();

/** Whose text it is, in the key of the index. */
export const INDEX = 'index';
/** Others would be another key. */
export const PROCESS = /^[\w-]{1,64}$/;
/** The most processes that are read: the latest ones. */
export const MOST_PROCESSES = 10_000;

/** Braces make the hash tag: in a cluster the texts are spread over the nodes. */
export const boardKey = (kind: FleetKind | 'denials', whose: string): string =>
  `sluice:v2:fleet:${kind}:{${whose}}`;

/** A text that could not be read. */
export const unread = (process: string, problem: string): FleetNote => ({
  process,
  age: 0,
  text: '',
  problem,
});

/** What one process broadcast. */
export interface Broadcast {
  /** Random id of its store object. */
  readonly process: string;
  /** When, by the store's clock; ms since 1970. */
  readonly time: number;
  readonly text: string;
}

/** Receives what the processes of a store broadcast. None of its functions may throw. */
export interface Follower {
  received(broadcast: Broadcast): void;
  /** The store is out, or refuses: texts are missed until `resumed`. */
  lost(error: StoreUnavailableError | StoreConfigurationError): void;
  resumed(): void;
}

/** The followers in this process. */
export class Followers implements Follower {
  /** Each in an object of its own: one follower may follow twice. */
  readonly #all = new Set<{ readonly follower: Follower }>();
  /** Called when one is added. */
  began = (): void => {};

  get any(): boolean {
    return this.#all.size > 0;
  }

  /** @returns a function that removes it */
  add(follower: Follower): () => void {
    const one = { follower };
    this.#all.add(one);
    this.began();
    return () => void this.#all.delete(one);
  }

  received(broadcast: Broadcast): void {
    for (const { follower } of [...this.#all]) follower.received(broadcast);
  }

  lost(error: StoreUnavailableError | StoreConfigurationError): void {
    for (const { follower } of [...this.#all]) follower.lost(error);
  }

  resumed(): void {
    for (const { follower } of [...this.#all]) follower.resumed();
  }

  clear(): void {
    this.#all.clear();
  }
}

/** The board of a store in this process, whose only reader and writer is the process itself. */
export class MemoryBoard implements FleetBoard {
  #process: string | undefined;
  readonly followers = new Followers();
  feed: DenialFeed | undefined;
  /** Moments are µs of the clock. */
  readonly #notes = new Map<FleetKind, { text: string; at: number; until: number }>();
  closed = false;

  constructor(
    private readonly clock: Clock,
    readonly announces: boolean,
  ) {}

  /** Drawn when it is first needed: an edge runtime has no random numbers while a module loads. */
  get process(): string {
    this.#process ??= newProcess();
    return this.#process;
  }

  async publish(kind: FleetKind, text: string, ttl: number): Promise<boolean> {
    if (this.closed) return false;
    const at = this.clock.now();
    this.#notes.set(kind, { text, at, until: at + ttl * 1000 });
    return true;
  }

  async read(kind: FleetKind): Promise<readonly FleetNote[]> {
    const note = this.#notes.get(kind);
    const now = this.clock.now();
    if (note === undefined || note.until <= now) return [];
    return [{ process: this.process, age: Math.max(0, Math.floor((now - note.at) / 1000)), text: note.text }];
  }

  async broadcast(text: string): Promise<boolean> {
    const time = Math.floor(this.clock.now() / 1000);
    if (text !== '') this.followers.received({ process: this.process, time, text });
    return this.followers.any;
  }

  follow(follower: Follower): () => void {
    return this.closed ? () => {} : this.followers.add(follower);
  }

  close(): void {
    this.closed = true;
    this.feed?.close();
    this.followers.clear();
    this.#notes.clear();
  }
}
