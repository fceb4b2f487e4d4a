import { hasBackground, performance } from '#platform';
import { storageKey } from '../../call/call.js';
import type { PendingCall } from '../../call/pending-call.js';
import { setImmediate } from '../../runtime.js';
import { Batch, tagOf } from './batch.js';
import type { Sender } from './sender.js';

/** For microtasks: `queueMicrotask` makes a resource for async hooks each time. */
const resolved = Promise.resolve();

/** µs that the first script call of a turn may hold Redis, about. It is short: Redis works while the other calls are still gathered. */
const FIRST = 80;
/** The same for each that follows. */
const MOST = 250;

/** Minimum size of an early batch: Redis needs about as long for it as this process needs to gather as many calls. */
const MANY = 20;
/** ms without any call after which a store counts as idle. */
const IDLE = 1;

/**
 * Sends the calls of one tick of the event loop together: as one script call, or as a few if one would take long. Calls to an idle store are
 * sent as soon as the current code has run. If nothing is under way, the first half of many calls is sent early.
 */
export class Batches {
  /** For a cluster: the node of a call's key, `host:port`. If it is '', only calls of one slot are sent together. */
  nodeOf: ((call: PendingCall) => string) | undefined;
  #gathering: Batch | undefined;
  /**
   * In a cluster: by node or slot. A new Map for each turn: V8 links what a Map held before `clear()` to what it holds next, and so the
   * old generation of the heap would keep the calls of all turns.
   */
  #placed: Map<string, Batch> | undefined;
  /** Is `#end` scheduled? */
  #begun = false;
  #most = FIRST;
  /** Calls of this turn, and of the last that had any. */
  #calls = 0;
  #usual = 0;
  #underWay = 0;
  #idleSince = 0;

  constructor(private readonly sender: Sender) {}

  /** @returns the batch that it is sent with */
  readonly add = (call: PendingCall): Batch => {
    const node = this.nodeOf?.(call);
    // A tag never has a space.
    const place = node === undefined ? '' : node === '' ? tagOf(storageKey(call)) : ` ${node}`;
    let batch = place === '' ? this.#gathering : this.#placed?.get(place);
    if (batch === undefined) {
      batch = new Batch(node || undefined);
      if (place === '') this.#gathering = batch;
      else this.#placed = (this.#placed ?? new Map()).set(place, batch);
    }
    if (!this.#begun) {
      this.#begun = true;
      // Without a background, a batch belongs to one request: it gathers the calls of the current code only.
      const isIdle = this.#underWay === 0 && (this.#usual < 2 || performance.now() - this.#idleSince > IDLE);
      if (isIdle || !hasBackground) void resolved.then(this.#end);
      else setImmediate(this.#end);
    }
    batch.add(call);
    this.#calls += 1;
    if (this.#underWay === 0 && this.#calls >= MANY && 2 * this.#calls >= this.#usual) {
      this.leave();
    } else if (batch.weight >= this.#most) {
      this.#most = MOST;
      if (place === '') this.#gathering = undefined;
      else this.#placed!.delete(place);
      this.#underWay += 1;
      this.sender.send(batch, this.#arrived);
    }
    return batch;
  };

  readonly #end = () => {
    this.#begun = false;
    this.#most = FIRST;
    this.#usual = this.#calls;
    this.#calls = 0;
    this.leave();
  };

  /** Sends what was gathered so far. */
  leave(): void {
    const batches: Batch[] = this.#placed === undefined ? [] : [...this.#placed.values()];
    if (this.#gathering !== undefined) batches.push(this.#gathering);
    this.#gathering = undefined;
    this.#placed = undefined;
    if (batches.length === 0) return;
    this.#underWay += batches.length;
    if (batches.length === 1) this.sender.send(batches[0]!, this.#arrived);
    else this.sender.sendAll(batches, this.#arrived);
  }

  /** Before the calls of a batch resolve: a call made then finds nothing under way. */
  readonly #arrived = () => {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#idleSince = performance.now();
  };
}
