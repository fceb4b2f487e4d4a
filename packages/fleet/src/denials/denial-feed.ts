import {
  clearTimeout,
  type DenialSource,
  type DenialFeed as Feed,
  type FleetBoard,
  setTimeout,
  unref,
} from '@sluice/core/internal';
import { DenialCollector } from './denial-collector.js';

/** ms from the first answer of the store until the first look for followers, and between two looks. */
const [FIRST, EVERY] = [1_000, 2_000];
/** A process without calls looks once in this number of times: its first denial may be the one to see. */
const IDLE = 5;
/** ms between two texts while there is a follower. */
const REPORT = 500;
/** One text in this number is sent in any case: the reply says whether there still is a follower. */
const FULL = 4;

/**
 * Broadcasts what this process denies to the followers of its store, off the request path. Without a follower it collects nothing: it only looks now
 * and then whether there is one. What cannot be sent is dropped. Its timer keeps no process alive.
 */
export class DenialFeed implements Feed {
  readonly #board: FleetBoard;
  readonly #collector: DenialCollector;
  readonly #wasUsed: () => boolean;
  #timer: NodeJS.Timeout | undefined;
  sends = false;
  #round = 0;

  /** @param wasUsed whether the store had calls since it was last called */
  private constructor(source: DenialSource, wasUsed: () => boolean) {
    const board = source.fleet;
    this.#board = board;
    this.#collector = new DenialCollector(source);
    this.#wasUsed = wasUsed;
    board.followers.began = () => this.#begin();
  }

  /** The feed of a store: there is one. */
  static of(source: DenialSource, wasUsed: () => boolean = () => false): Feed {
    source.fleet.feed ??= new DenialFeed(source, wasUsed);
    return source.fleet.feed;
  }

  start(): void {
    if (this.sends || !this.#board.announces || this.#board.closed) return;
    this.sends = true;
    if (!this.#collector.isOn) this.#schedule(FIRST);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#collector.stop();
  }

  #begin(): void {
    if (this.#collector.isOn || this.#board.closed) return;
    this.#collector.start();
    this.#schedule(REPORT);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(() => void this.#tick(), ms));
  }

  async #tick(): Promise<void> {
    this.#round += 1;
    const followed = this.#collector.isOn ? await this.#report() : await this.#look();
    if (this.#board.closed) return;
    if (followed || this.#board.followers.any) this.#collector.start();
    else this.#collector.stop();
    if (this.#collector.isOn) this.#schedule(REPORT);
    else if (this.sends) this.#schedule(EVERY);
  }

  /** Resolves to whether there still is a follower. */
  async #report(): Promise<boolean> {
    const text = this.#collector.take(this.#round % FULL === 0);
    return text === undefined || this.#board.broadcast(text);
  }

  async #look(): Promise<boolean> {
    const wasUsed = this.#wasUsed();
    return (wasUsed || this.#round % IDLE === 0) && this.#board.broadcast('');
  }
}
