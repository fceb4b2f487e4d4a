import {
  type FleetBoard,
  getOrCreate,
  type LimiterDefinition,
  Publisher,
  publishedHost,
} from '@sluice/core/internal';
import { scopeOfKey } from '../calls/scopes.js';
import type { Pause } from './pause.js';

/** Published soon after a change, and kept for an hour: also when the process has ended before its pauses. ms */
const TIMES = { soon: 500, every: 600_000, ttl: 3_600_000 };
/** Pauses of an upstream that are published: those that end last. */
const MOST = 100;
/** Characters of a reason: a service may write any. */
const LONGEST_REASON = 200;

/** An upstream of this process, for `sluice` and other tools. */
export interface NotedUpstream {
  readonly name: string;
  /** Of the limiter that stores the pauses. */
  readonly limiter: LimiterDefinition;
  /** The pauses now. */
  pauses(): readonly Pause[];
}

const boards = new WeakMap<FleetBoard, PauseNotes>();

/** Says on the notice board of a store why the upstreams of this process are paused. The store has the pauses; the board has the reasons. */
export class PauseNotes {
  readonly #upstreams = new Set<NotedUpstream>();
  readonly #publisher: Publisher;
  /** Is the published text without pauses? */
  #isEmpty = true;

  constructor(board: FleetBoard) {
    this.#publisher = new Publisher(board, 'pauses', TIMES, () => this.#text());
  }

  /** Undefined: the store has no board, or does not publish. */
  static of(board: FleetBoard | undefined): PauseNotes | undefined {
    return board?.announces === true ? getOrCreate(boards, board, () => new PauseNotes(board)) : undefined;
  }

  changed(upstream: NotedUpstream): void {
    this.#upstreams.add(upstream);
    this.#publisher.changed();
  }

  /** Publishes what changed: the process may end now. */
  publishChanges(): Promise<void> {
    return this.#publisher.publishChanges();
  }

  #text(): string | undefined {
    const upstreams = [...this.#upstreams].flatMap((upstream) => {
      const pauses = upstream
        .pauses()
        // Of others their own processes know why.
        .filter(({ kind }) => kind !== 'unknown')
        .sort((one, other) => other.until - one.until)
        .slice(0, MOST)
        .map(({ seen: _, ...pause }) => ({
          ...pause,
          scope: scopeOfKey(pause.key),
          reason: pause.reason.slice(0, LONGEST_REASON),
        }));
      if (pauses.length === 0) this.#upstreams.delete(upstream);
      const { name, limiter } = upstream;
      return pauses.length === 0 ? [] : [{ name, limiter, pauses }];
    });
    const wasEmpty = this.#isEmpty;
    this.#isEmpty = upstreams.length === 0;
    if (this.#isEmpty && wasEmpty) return undefined;
    return JSON.stringify({ form: 1, host: publishedHost(), pid: process.pid, upstreams });
  }
}
