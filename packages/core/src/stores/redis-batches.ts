import type { Asking } from './asking.js';
import { Batch } from './batch.js';

/** Node's own, whatever a test puts in its place: under a fake one nothing would ever leave. */
const { setImmediate } = globalThis;

/**
 * µs that one script call may hold Redis, about: of the first of a turn, which sets Redis to work while the rest still gathers, and
 * of each that follows it.
 */
const FIRST = 80;
const MOST = 250;

/** Lets the calls of one turn of the event loop leave together: as one script call, or a few where they would be long. */
export class RedisBatches {
  readonly #slotted: () => boolean;
  readonly #send: (batches: readonly Batch[]) => void;
  /** By what must be one for all keys of a script call: in a cluster the hash tag. */
  readonly #gathering = new Map<string, Batch>();
  #turn: NodeJS.Immediate | undefined;
  #most = FIRST;

  /** @param slotted whether the keys of one script call must lie in one slot */
  constructor(slotted: () => boolean, send: (batches: readonly Batch[]) => void) {
    this.#slotted = slotted;
    this.#send = send;
  }

  add(asking: Asking): void {
    const place = this.#slotted() ? tagOf(asking.call.parts[0]!.key) : '';
    let batch = this.#gathering.get(place);
    if (batch === undefined) {
      batch = new Batch();
      this.#gathering.set(place, batch);
      this.#turn ??= setImmediate(this.#leave);
    }
    batch.add(asking);
    if (batch.weight < this.#most) return;
    this.#most = MOST;
    this.#gathering.delete(place);
    this.#send([batch]);
  }

  readonly #leave = () => {
    this.#turn = undefined;
    this.#most = FIRST;
    const batches = [...this.#gathering.values()];
    this.#gathering.clear();
    this.#send(batches);
  };
}

/** What decides the slot of a key: its hash tag. Keys with different ones seldom share a slot. */
function tagOf(key: string): string {
  const open = key.indexOf('{');
  const end = key.indexOf('}', open + 1);
  return open === -1 || end <= open + 1 ? key : key.slice(open + 1, end);
}
