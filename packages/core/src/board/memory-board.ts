import type { Clock } from '../clock.js';
import {
  type DenialFeed,
  type FleetBoard,
  type FleetKind,
  type FleetNote,
  type Follower,
  Followers,
  newProcess,
} from './board.js';

/** The board of a store in this process, whose only reader and writer is the process itself. */
export class MemoryBoard implements FleetBoard {
  #process: string | undefined;
  readonly followers = new Followers();
  feed: DenialFeed | undefined;
  /** Moments are µs of the clock. */
  readonly #notes = new Map<
    FleetKind,
    { readonly text: string; readonly at: number; readonly until: number }
  >();
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
