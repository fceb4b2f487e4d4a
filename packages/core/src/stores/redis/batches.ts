import { performance } from 'node:perf_hooks';
import type { Clock } from '../../clock.js';
import type { PendingCall } from '../../pipeline/pending-call.js';
import { Batch, type KeyGroup } from './batch.js';

/** Node's own, whatever a test puts in its place: under a fake one nothing would ever leave. */
const { setImmediate } = globalThis;
/** For microtasks: `queueMicrotask` makes a resource for async hooks each time. */
const resolved = Promise.resolve();

/**
 * µs that one script call may hold Redis, about: of the first of a turn, which sets Redis to work while the rest still gathers, and
 * of each that follows it.
 */
const FIRST = 80;
const MOST = 250;

/** So many calls are worth a trip of their own: to gather as many more takes this process as long as Redis is at work with them. */
const MANY = 20;
/** ms without any call after which a store counts as idle. */
const IDLE = 1;

/** What the keys of one script call have in common in a cluster. */
export interface Place {
  readonly name: string;
  /** `host:port`, if it is a node; otherwise it is a slot. */
  readonly node: string | undefined;
}

/**
 * Lets the calls of one turn of the event loop leave together: as one script call, or a few where they would be long. Those of an idle store
 * leave as soon as the code that asks has run. While nothing is under way, half of many leave before the rest is there.
 */
export class Batches {
  /** Where the key of a call lives, in a cluster. */
  placeOf: ((call: PendingCall) => Place) | undefined;
  readonly #clock: Clock;
  readonly #send: (batches: readonly Batch[], arrived: () => void) => void;
  #gathering: Batch | undefined;
  /**
   * In a cluster: by place. A new one for each turn: V8 links what a Map held
   * before `clear()` to what it holds next, and so the old generation of the heap would keep the calls of all turns.
   */
  #placed: Map<string, Batch> | undefined;
  /** Is the end of this turn waited for? */
  #begun = false;
  #most = FIRST;
  /** Calls of this turn, and of the last that had any. */
  #calls = 0;
  #usual = 0;
  #underWay = 0;
  #idleSince = 0;

  /**
   * @param send calls `arrived` once for each batch, before anybody has his answer: who asks again then finds nothing under way
   */
  constructor(clock: Clock, send: (batches: readonly Batch[], arrived: () => void) => void) {
    this.#clock = clock;
    this.#send = send;
  }

  /** @returns the batch that it is sent with */
  add(call: PendingCall): Batch {
    const place = this.placeOf?.(call);
    let batch = this.#gathering;
    if (place !== undefined) {
      batch = this.#batchAt(place);
    } else if (batch === undefined) {
      batch = new Batch(this.#clock.now());
      this.#gathering = batch;
    }
    if (!this.#begun) this.#begin();
    batch.add(call);
    this.#calls += 1;
    if (this.#underWay === 0 && this.#calls >= MANY && 2 * this.#calls >= this.#usual) {
      this.#leave();
    } else if (batch.weight >= this.#most) {
      this.#most = MOST;
      if (place === undefined) this.#gathering = undefined;
      else this.#placed!.delete(place.name);
      this.#depart([batch]);
    }
    return batch;
  }

  #batchAt(place: Place): Batch {
    this.#placed ??= new Map();
    let batch = this.#placed.get(place.name);
    if (batch === undefined) {
      batch = new Batch(this.#clock.now(), place.node);
      this.#placed.set(place.name, batch);
    }
    return batch;
  }

  #begin(): void {
    this.#begun = true;
    if (this.#underWay === 0 && (this.#usual < 2 || performance.now() - this.#idleSince > IDLE)) {
      void resolved.then(this.#end);
    } else {
      setImmediate(this.#end);
    }
  }

  readonly #end = () => {
    this.#begun = false;
    this.#most = FIRST;
    this.#usual = this.#calls;
    this.#calls = 0;
    this.#leave();
  };

  #leave(): void {
    const batches: Batch[] = this.#placed === undefined ? [] : [...this.#placed.values()];
    if (this.#gathering !== undefined) batches.push(this.#gathering);
    this.#gathering = undefined;
    this.#placed = undefined;
    if (batches.length > 0) this.#depart(batches);
  }

  #depart(batches: readonly Batch[]): void {
    this.#underWay += batches.length;
    this.#send(batches, this.#arrived);
  }

  readonly #arrived = () => {
    this.#underWay -= 1;
    if (this.#underWay === 0) this.#idleSince = performance.now();
  };
}

/** What decides the slot of a key: its hash tag. Keys with different ones seldom share a slot. */
export function tagOf(key: string): string {
  const open = key.indexOf('{');
  const end = key.indexOf('}', open + 1);
  return open === -1 || end <= open + 1 ? key : key.slice(open + 1, end);
}

/** Groups whose keys have the same hash tag, in their order. */
export function bySlot(groups: readonly KeyGroup[]): readonly (readonly KeyGroup[])[] {
  const found = new Map<string, KeyGroup[]>();
  for (const group of groups) {
    const tag = tagOf(group.keys[0]!);
    const known = found.get(tag);
    if (known === undefined) found.set(tag, [group]);
    else known.push(group);
  }
  return [...found.values()];
}
