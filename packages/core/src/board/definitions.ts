import { hasBackground, hostname, process } from '#platform';
import { unref } from '../clock.js';
import { getOrCreate } from '../maps.js';
import { clearTimeout, setTimeout, VERSION } from '../runtime.js';
import { type FleetBoard, type FleetKind, MOST_BYTES } from './board.js';
import type { LimiterDefinition, ProcessDefinitions, RulesDefinition } from './definition.js';

const TIMES = { soon: 1_000, every: 60_000, ttl: 180_000 };
/** The most limiters that a process publishes. */
const MOST = 200;
/** The most bytes that their texts have together. */
const MOST_BYTES_OF_LIMITERS = 0.9 * MOST_BYTES;

const publishers = new WeakMap<FleetBoard, DefinitionPublisher>();

/** Undefined if nothing is published. */
const publisherOf = (board: FleetBoard | undefined, layout: string): DefinitionPublisher | undefined =>
  board === undefined || !board.announces || board.closed
    ? undefined
    : getOrCreate(publishers, board, () => new DefinitionPublisher(board, layout));

/**
 * Makes a limiter known to the other processes of its store, soon after its first decision.
 * @param id limiters of one id are published once
 * @param describe called when it is published
 * @returns a function that ends it
 */
export function announce(
  board: FleetBoard | undefined,
  layout: string,
  id: string,
  describe: () => LimiterDefinition,
): () => void {
  return publisherOf(board, layout)?.add(id, describe) ?? (() => {});
}

/** Publishes what changed in this process, for a reader that does not wait until it is published anyway. Never rejects. */
export const publishDefinitions = async (board: object): Promise<void> =>
  publishers.get(board as FleetBoard)?.publisher.publishChanges();

/**
 * Makes the rules of a document known to the other processes of a store.
 * @param describe called when they are published
 * @returns functions to call when they have changed, and at their end
 */
export function announceRules(
  board: FleetBoard | undefined,
  layout: string,
  describe: () => RulesDefinition,
): { changed(): void; end(): void } {
  return publisherOf(board, layout)?.addRules(describe) ?? { changed() {}, end() {} };
}

class DefinitionPublisher {
  /** In the order of their first limiters. */
  readonly #known = new Map<string, { readonly describe: () => LimiterDefinition; limiters: number }>();
  readonly #rules = new Set<() => RulesDefinition>();
  readonly publisher: Publisher;
  #omitted = 0;

  constructor(
    private readonly board: FleetBoard,
    private readonly layout: string,
  ) {
    this.publisher = new Publisher(board, 'definitions', TIMES, () => this.#text());
    board.restored = () => this.publisher.changed();
  }

  add(id: string, describe: () => LimiterDefinition): () => void {
    const known = this.#known.get(id);
    if (known === undefined && this.#known.size >= MOST) {
      this.#omitted += 1;
      return once(() => {
        this.#omitted -= 1;
      });
    }
    const use = known ?? { describe, limiters: 0 };
    use.limiters += 1;
    if (known === undefined) {
      this.#known.set(id, use);
      this.publisher.changed();
    }
    return once(() => {
      use.limiters -= 1;
      if (use.limiters > 0) return;
      this.#known.delete(id);
      this.publisher.changed();
    });
  }

  addRules(describe: () => RulesDefinition): { changed(): void; end(): void } {
    this.#rules.add(describe);
    const changed = () => this.publisher.changed();
    changed();
    const end = () => {
      this.#rules.delete(describe);
      changed();
    };
    return { changed, end };
  }

  #text(): string {
    const limiters: LimiterDefinition[] = [];
    let bytes = 0;
    for (const { describe } of this.#known.values()) {
      const limiter = describe();
      bytes += Buffer.byteLength(JSON.stringify(limiter));
      if (bytes <= MOST_BYTES_OF_LIMITERS) limiters.push(limiter);
    }
    const definitions: ProcessDefinitions = {
      version: VERSION,
      layout: this.layout,
      host: publishedHost(),
      pid: process.pid,
      limiters,
      omitted: this.#omitted + this.#known.size - limiters.length,
      rules: this.#rules.size === 0 ? undefined : [...this.#rules].map((describe) => describe()),
      denials: this.board.feed?.sends || undefined,
    };
    return JSON.stringify(definitions);
  }
}

function once(end: () => void): () => void {
  let ended = false;
  return () => {
    if (!ended) end();
    ended = true;
  };
}

/** The name of this machine in what a process publishes: readers refuse other characters. */
export const publishedHost = (): string =>
  hostname()
    .replace(/[^!-~]/g, '?')
    .slice(0, 255);

/** When texts are published, ms. */
export interface PublisherTimes {
  /** From a change until it is published. */
  readonly soon: number;
  /** Until an unchanged text is published again. */
  readonly every: number;
  /** Until a text expires that is not published again. */
  readonly ttl: number;
}

/** ms until the next attempt after the store did not take a text: it may be connecting. */
const AGAIN = 2_000;

/** Publishes the text of this process on a board, off the request path, until the board closes. Its timer keeps no process alive. */
export class Publisher {
  #timer: NodeJS.Timeout | undefined;
  #isSoon = false;
  /** Is there something that was not published? */
  #isChanged = false;

  /** @param text called when it is published; undefined ends publishing until the next `changed` */
  constructor(
    private readonly board: FleetBoard,
    private readonly kind: FleetKind,
    private readonly times: PublisherTimes,
    private readonly text: () => string | undefined,
  ) {}

  /** There is something new to publish. */
  changed(): void {
    if (!hasBackground || this.board.closed) return;
    this.#isChanged = true;
    if (this.#isSoon) return;
    this.#isSoon = true;
    this.#schedule(this.times.soon);
  }

  /** Publishes what changed, before it is due. */
  async publishChanges(): Promise<void> {
    const text = this.#isChanged && !this.board.closed ? this.text() : undefined;
    if (text !== undefined) await this.#send(text);
  }

  #schedule(ms: number): void {
    clearTimeout(this.#timer);
    this.#timer = unref(setTimeout(() => void this.#publish(), ms));
  }

  async #publish(): Promise<void> {
    this.#isSoon = false;
    if (this.board.closed) return;
    const text = this.text();
    if (text === undefined) return;
    const published = await this.#send(text);
    if (!this.#isSoon) this.#schedule(published ? this.times.every : AGAIN);
  }

  async #send(text: string): Promise<boolean> {
    this.#isChanged = false;
    const published = await this.board.publish(this.kind, text, this.times.ttl);
    if (!published) this.#isChanged = true;
    return published;
  }
}
