import { performance } from 'node:perf_hooks';
import process from 'node:process';
import type { DecisionMessage, HoldMessage, StoreCallMessage } from '@sluice/core';
import {
  boardOf,
  DECISION,
  type DenialSource,
  detach,
  HOLD,
  hashStoredKey,
  publishedHost,
  STORE_CALL,
} from '@sluice/core/internal';
import type { DenialReport } from './denial-report.js';
import { type DenialText, FORM } from './parse-denials.js';

/** Denials that differ, and the characters of their names and keys, in one text. The others are counted. */
const [MOST, MOST_CHARACTERS] = [100, 64_000];
/** Script calls whose time is kept: the first ones since the last text with a summary. */
const MOST_CALLS = 1_000;

/** The same but for its moments, which are those of the last one. */
type Collected = Omit<DenialText, 'count' | 'age' | 'retryAfter'> & {
  count: number;
  /** ms, as of `performance.now()`. */
  endedAt: number;
  retryAfter: number;
};

/** Collects the denials of one store in this process, and times its script calls, while it is on. */
export class DenialCollector {
  readonly #source: DenialSource;
  /** By limiter, policy, mode, cost and key. */
  #denials = new Map<string, Collected>();
  #characters = 0;
  #omitted = 0;
  #times: number[] = [];
  isOn = false;

  constructor(source: DenialSource) {
    this.#source = source;
  }

  start(): void {
    if (this.isOn) return;
    this.isOn = true;
    DECISION.subscribe(this.#decided);
    HOLD.subscribe(this.#held);
    STORE_CALL.subscribe(this.#called);
  }

  stop(): void {
    if (!this.isOn) return;
    this.isOn = false;
    DECISION.unsubscribe(this.#decided);
    HOLD.unsubscribe(this.#held);
    STORE_CALL.unsubscribe(this.#called);
    this.#clear();
    this.#times = [];
  }

  /** The text since the last one. @param full also without a denial, and with the times of the script calls */
  take(full: boolean): string | undefined {
    if (!full && this.#omitted === 0 && this.#denials.size === 0) return undefined;
    const now = performance.now();
    const calls = full ? summaryOf(this.#times) : undefined;
    if (full) this.#times = [];
    const text = {
      form: FORM,
      host: publishedHost(),
      pid: process.pid,
      denials: [...this.#denials.values()].map((one) => this.#textOf(one, now)),
      omitted: this.#omitted,
      ...(calls && { calls }),
    };
    this.#clear();
    return JSON.stringify(text);
  }

  #textOf({ endedAt, retryAfter, key, ...denial }: Collected, now: number): DenialText {
    return {
      ...denial,
      key: this.#source.usage?.keys === 'hash' ? hashStoredKey(key) : key,
      age: Math.max(0, Math.round(now - endedAt)),
      retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
    };
  }

  #clear(): void {
    this.#denials = new Map();
    this.#characters = 0;
    this.#omitted = 0;
  }

  // The call that was denied waits for this: it only counts and keeps.
  readonly #decided = (given: unknown): void => {
    const message = given as DecisionMessage;
    if (message.result !== 'denied' || boardOf(message) !== this.#source.fleet) return;
    const { limiter, policy, mode, cost, key } = message;
    const id = `${limiter} ${policy} ${mode} ${cost} ${key}`;
    this.#add(id, message.endedAt!, message.decision!.retryAfter, (at) => collected(message, at));
  };

  readonly #held = (given: unknown): void => {
    const message = given as HoldMessage;
    if (message.state !== 'denied' || boardOf(message) !== this.#source.fleet) return;
    const { meter, axis, key, amounts, retryAfter } = message;
    const limiter = `${meter}:${axis}`;
    const cost = amounts[axis!] ?? 0;
    this.#add(`${limiter} ${cost} ${key}`, performance.now(), retryAfter!, (endedAt) => ({
      ...{ limiter, policy: limiter, key: detach(key!), cost, source: this.#source.name },
      ...{ count: 1, endedAt, retryAfter: retryAfter! },
    }));
  };

  #add(id: string, endedAt: number, retryAfter: number, collect: (endedAt: number) => Collected): void {
    const known = this.#denials.get(id);
    if (known !== undefined) {
      known.count += 1;
      known.endedAt = endedAt;
      known.retryAfter = retryAfter;
    } else if (this.#denials.size >= MOST || this.#characters + id.length > MOST_CHARACTERS) {
      this.#omitted += 1;
    } else {
      this.#characters += id.length;
      this.#denials.set(detach(id), collect(endedAt));
    }
  }

  readonly #called = (given: unknown): void => {
    const { store, address, error, startedAt, endedAt } = given as StoreCallMessage;
    const { name, health } = this.#source;
    const isOwn = store === name && address === health?.address();
    if (isOwn && error === undefined && this.#times.length < MOST_CALLS)
      this.#times.push(endedAt - startedAt);
  };
}

/** A copy: the message and its call are not kept. */
function collected({ limiter, mode, cost, key, decision }: DecisionMessage, endedAt: number): Collected {
  const { policy, retryAfter, source, degraded } = decision!;
  return {
    limiter,
    policy,
    key: detach(key),
    cost,
    source,
    ...(mode === 'shadow' && { shadow: true }),
    ...(degraded && { degraded: true }),
    count: 1,
    endedAt,
    retryAfter,
  };
}

/** By the nearest rank; undefined without a call. */
function summaryOf(times: readonly number[]): DenialReport['storeCalls'] {
  if (times.length === 0) return undefined;
  const sorted = Float64Array.from(times).sort();
  const quantile = (share: number) => Math.round(sorted[Math.ceil(share * sorted.length) - 1]! * 1000) / 1000;
  return { count: times.length, p50: quantile(0.5), p99: quantile(0.99) };
}
