import { performance } from 'node:perf_hooks';
import type { Script } from '../algorithms/algorithm.js';
import { type FleetBoard, type FleetKind, type FleetNote, newProcess } from './board.js';
import { boardScript } from './board.script.js';

/** How a board reaches its server. */
export interface BoardConnection {
  /** Runs a script with one key if there is a connection for it. @returns whether it ran */
  runNow(script: Script, key: string, args: readonly string[]): Promise<boolean>;
  /** Runs it, and connects first if necessary. @throws StoreUnavailableError, StoreConfigurationError */
  run(script: Script, key: string, args: readonly string[]): Promise<unknown>;
  /** Is it no outage but a refusal, which would come again? Then it reports it: decisions need other rights, and may all pass. */
  reportRefusal(error: unknown): boolean;
}

/** ms until a server that refused a text is asked again: each refusal is a line in its log. */
const REFUSAL_PAUSE = 600_000;

/** The board of a Redis: one key for each text, and one for the index of a kind. */
export class RedisBoard implements FleetBoard {
  readonly process = newProcess();
  readonly #connection: BoardConnection;
  closed = false;
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(
    connection: BoardConnection,
    readonly announces: boolean,
  ) {
    this.#connection = connection;
  }

  async publish(kind: FleetKind, text: string, ttl: number): Promise<boolean> {
    if (this.closed || performance.now() - this.#refusedAt < REFUSAL_PAUSE) return false;
    const { process } = this;
    try {
      return (
        (await this.#now(keyOf(kind, process), 'write', text, ttl)) &&
        (await this.#now(keyOf(kind, INDEX), 'enter', process, ttl))
      );
    } catch (error) {
      // Decisions report outages.
      if (!this.closed && this.#connection.reportRefusal(error)) this.#refusedAt = performance.now();
      return false;
    }
  }

  async read(kind: FleetKind): Promise<readonly FleetNote[]> {
    const listed = (await this.#connection.run(boardScript, keyOf(kind, INDEX), ['list'])) as unknown[];
    const processes = listed.slice(1).map(String);
    const notes = processes.flatMap((process, i) =>
      i % 2 === 0 ? [this.#note(kind, process, Number(processes[i + 1]))] : [],
    );
    return (await Promise.all(notes)).filter(({ text }) => text !== '');
  }

  close(): void {
    this.closed = true;
  }

  #now(key: string, action: string, text: string, ttl: number): Promise<boolean> {
    return this.#connection.runNow(boardScript, key, [action, text, String(ttl)]);
  }

  async #note(kind: FleetKind, process: string, age: number): Promise<FleetNote> {
    const text = await this.#connection.run(boardScript, keyOf(kind, process), ['read']);
    return { process, age, text: String(text) };
  }
}

const INDEX = 'index';

/** Braces make the hash tag: in a cluster the texts are spread over the nodes. */
const keyOf = (kind: FleetKind, whose: string): string => `sluice:v2:fleet:${kind}:{${whose}}`;
