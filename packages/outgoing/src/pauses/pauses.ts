import {
  concurrency,
  type Decision,
  isLimiterClosedError,
  isStoreUnavailableError,
  LimiterClosedError,
  RateLimiter,
  type Store,
} from '@sluice/core';
import { isPromise, type MaybePromise, onAbort, RecentMap, Stop } from '@sluice/core/internal';
import { nowOf } from '../calls/time.js';
import { type Pause, type PauseReason, publishPause, UNKNOWN } from './pause.js';
import { type NotedUpstream, PauseNotes } from './pause-notes.js';
import { PauseWatch } from './pause-watch.js';

/** Calls at once with which a scope that was paused counts as open again. */
export const OPEN = 64;
/** ms; a ramp that no call has climbed for that long after the longest pause is open. */
const LINGER = 600_000;
/** ms for which calls need not read a pause again in a store that is not in this process. */
const FRESH = 1_000;
/** Pauses that this process remembers. */
const MOST = 10_000;

/** Calls that wait for a permit poll three times in a lease, also to learn that the scope is paused again. */
const LEASE = '6s';

const gateOf = (limit: number) => concurrency({ limit, lease: LEASE, queue: 10_000 });

/** Why a call may not be sent now. */
export interface GateState {
  /** The pause that ends last. */
  readonly paused: Pause | undefined;
  /** Keys whose pause is over, and of which only some calls may run until they have succeeded. */
  readonly recovering: readonly string[];
}

/** What a `Pauses` needs. */
export interface PausesOptions {
  readonly name: string;
  readonly store: Store;
  readonly keyPrefix: string | undefined;
  readonly deadline: number | undefined;
  /** ms */
  readonly maxPause: number;
}

/**
 * The pauses of an upstream, in the store of all its processes. A pause is a block of its key that can only become longer, together with an
 * override: one call at once, until a call has succeeded. So the tools for keys see it, and `unblock` ends it.
 */
export class Pauses {
  readonly name: string;
  readonly gate: RateLimiter;
  readonly maxPause: number;
  /** Calls that wait for something else meanwhile. */
  readonly watch: PauseWatch = new PauseWatch(this);
  readonly #store: Store;
  readonly #fresh: number;
  readonly #known = new RecentMap<string, Pause>(MOST, () => false);
  /** What a key allows now, without an object for options and a promise for each of the keys of a call. */
  readonly #peek: (key: string) => MaybePromise<Decision>;
  readonly #notes: PauseNotes | undefined;
  readonly #noted: NotedUpstream;
  /** Ends all sleeps. */
  readonly #closing = new AbortController();

  constructor({ name, store, keyPrefix, deadline, maxPause }: PausesOptions) {
    this.name = name;
    this.#store = store;
    this.maxPause = maxPause;
    this.#fresh = store.remote ? FRESH : 0;
    this.gate = new RateLimiter({
      name: `${name}:pauses`,
      policy: gateOf(OPEN),
      store,
      hashTag: name,
      keyPrefix,
      deadline,
    });
    this.#notes = PauseNotes.of(store.fleet);
    const { limits, admission } = RateLimiter.internals(this.gate);
    this.#peek = (key) => admission.admit(limits.call('peek', key, 0));
    this.#noted = { name, limiter: limits.definition('limiter'), pauses: () => this.known };
  }

  get now(): number {
    return nowOf(this.#store.clock);
  }

  get isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** @throws LimiterClosedError */
  checkOpen(): void {
    this.#closing.signal.throwIfAborted();
  }

  /** As of `Clock`. @throws the signal's reason, LimiterClosedError */
  async sleep(ms: number, signal?: AbortSignal, options?: { readonly idle?: boolean }): Promise<void> {
    const closing = this.#closing.signal;
    const stop = new Stop(signal);
    stop.throwIfAborted();
    closing.throwIfAborted();
    const ignore = onAbort(closing, () => stop.abort(closing.reason));
    try {
      await this.#store.clock.sleep(ms * 1000, stop.signal, options);
    } finally {
      ignore();
      stop.end();
    }
  }

  /** The pauses that this process knows of. */
  get known(): readonly Pause[] {
    const { now } = this;
    return this.#known.values().filter(({ until }) => until > now);
  }

  /**
   * The pause among these that ends last, as far as this process knows without the store: it has read it a moment ago, or the store did not
   * take it.
   */
  remembered(keys: readonly string[]): Pause | undefined {
    if (this.#known.size === 0) return undefined;
    const { now } = this;
    let last: Pause | undefined;
    for (const key of keys) {
      const pause = this.#known.get(key);
      if (pause === undefined || pause.until <= now || (pause.stored && now - pause.seen >= this.#fresh))
        continue;
      if (last === undefined || pause.until > last.until) last = pause;
    }
    return last;
  }

  /** Reads the keys in the store; all in one script call. Returns at once if the store is in this process. */
  look(keys: readonly string[]): MaybePromise<GateState> {
    const decisions = keys.map(this.#peek);
    return decisions.some(isPromise)
      ? Promise.all(decisions).then((all) => this.#stateOf(keys, all))
      : this.#stateOf(keys, decisions as Decision[]);
  }

  #stateOf(keys: readonly string[], decisions: readonly Decision[]): GateState {
    let paused: Pause | undefined;
    const recovering: string[] = [];
    for (const [i, decision] of decisions.entries()) {
      const key = keys[i]!;
      const pause = this.#pauseBy(key, decision);
      if (pause === undefined) {
        if (decision.limit < OPEN) recovering.push(key);
        continue;
      }
      this.watch.learned(pause);
      if (paused === undefined || pause.until > paused.until) paused = pause;
    }
    return { paused, recovering };
  }

  /** The store knows better than this process, unless it is out, or did not take a pause. */
  #pauseBy(key: string, { allowed, degraded, retryAfter }: Decision): Pause | undefined {
    const known = this.#known.get(key);
    const { now } = this;
    if (!allowed && !degraded) {
      const until = now + retryAfter;
      // A longer pause of this process alone stays.
      if (known !== undefined && !known.stored && known.until > until) return known;
      // Rounded up to ms: the same end read twice may differ by 1.
      const isSame = known !== undefined && Math.abs(known.until - until) <= 2;
      const end = isSame ? known.until : until;
      const pause = {
        ...UNKNOWN,
        ...known,
        key,
        since: known?.since ?? now,
        seen: now,
        until: end,
        stored: true,
      };
      this.#known.set(key, pause);
      return pause;
    }
    if (known === undefined) return undefined;
    if (known.until > now && (degraded || !known.stored)) return known;
    this.#known.delete(key);
    return undefined;
  }

  /**
   * Pauses a key until a moment, unless it is paused for longer. Without a store it pauses this process.
   * @param probes after the pause one call goes first, and others follow when it has succeeded
   */
  async pause(key: string, until: number, why: PauseReason, probes: boolean): Promise<Pause> {
    const { now } = this;
    const ms = Math.min(this.maxPause, Math.max(1, Math.ceil(until - now)));
    const before = this.#known.get(key);
    const isLonger = before === undefined || before.until < now + ms;
    const pause: Pause = isLonger
      ? {
          ...why,
          key,
          since: before !== undefined && before.until > now ? before.since : now,
          seen: now,
          until: now + ms,
          stored: false,
        }
      : before;
    if (isLonger) this.#begin(pause);
    const stored = await this.#write(key, ms, probes);
    if (!isLonger) return pause;
    const kept = { ...pause, stored };
    if (this.#known.get(key) === pause) this.#known.set(key, kept);
    this.#notes?.changed(this.#noted);
    return kept;
  }

  /** Pauses a key in this process alone, unless it is paused for longer. @param end ms since 1970, if `maxPause` allows it */
  pauseHere(key: string, end: number, why: PauseReason): void {
    const { now } = this;
    const until = Math.min(end, now + this.maxPause);
    const before = this.#known.get(key);
    if (before !== undefined && before.until >= until) return;
    this.#begin({ ...why, key, since: now, seen: now, until, stored: false });
    this.#notes?.changed(this.#noted);
  }

  #begin(pause: Pause): void {
    this.#known.set(pause.key, pause);
    publishPause(this.name, 'paused', pause);
    this.watch.learned(pause);
  }

  /** Both writes are one script call. */
  async #write(key: string, ms: number, probes: boolean): Promise<boolean> {
    const writes = [this.gate.block(key, ms, { keepLonger: true })];
    if (probes) writes.push(this.#ramp(key, 1));
    const failed = (await Promise.allSettled(writes)).find(({ status }) => status === 'rejected');
    if (failed === undefined) return true;
    const { reason } = failed as PromiseRejectedResult;
    if (isStoreUnavailableError(reason) || isLimiterClosedError(reason)) return false;
    throw reason;
  }

  /** A call of a recovering scope has succeeded: `next` calls may run at once. */
  async advance(key: string, next: number): Promise<void> {
    // A pause that was stored meanwhile begins from one call again: also one that is stored between the look and the write.
    const { allowed, limit } = await this.#peek(key);
    // Later calls may have succeeded before a slow one: as many calls as they let run may go on running.
    if (!allowed || limit >= next) return;
    await this.#ramp(key, next);
    if (!(await this.#peek(key)).allowed) await this.#ramp(key, 1);
  }

  /** Lets `calls` calls run at once. Always until the same time after now: a shorter pause does not end the ramp of a longer one. */
  async #ramp(key: string, calls: number): Promise<void> {
    if (calls >= OPEN) await this.gate.removeOverride(key);
    else await this.gate.override(key, gateOf(calls), { expiresIn: this.maxPause + LINGER });
  }

  /** Ends a pause early. One call goes first, as after any pause. */
  async resume(key: string): Promise<void> {
    const { now } = this;
    const pause = this.#known.get(key) ?? {
      ...UNKNOWN,
      key,
      since: now,
      until: now,
      seen: now,
      stored: true,
    };
    this.#known.delete(key);
    await this.gate.unblock(key);
    this.#notes?.changed(this.#noted);
    publishPause(this.name, 'resumed', pause);
  }

  /** Ends all sleeps with a `LimiterClosedError`. */
  async close(): Promise<void> {
    if (!this.isClosed) this.#closing.abort(new LimiterClosedError(`Upstream '${this.name}' was closed`));
    await this.#notes?.publishChanges();
    await this.gate.close();
  }
}
