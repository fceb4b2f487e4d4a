import { NEVER, type Operation, type Policy, type Rule } from './algorithms/algorithm.js';
import { compilePolicy } from './algorithms/index.js';
import type { Decision } from './decision.js';
import { type Duration, toMicros } from './duration.js';
import { LimiterClosedError, RateLimitExceededError } from './errors.js';
import { keyPart } from './keys/key-part.js';
import { encodeKey } from './keys/redis-key.js';
import { withDeadline } from './layers/deadline.js';
import { checkInteger, checkOptions, describe } from './options.js';
import { memoryStore } from './stores/memory-store.js';
import type { Answer, Store } from './stores/store.js';

export interface RateLimiterOptions {
  /**
   * Names the limit in keys, headers and errors. Letters, digits and `. _ - : / @ #`; default `'default'`. Needed with a
   * `store`, where other limits may be as well.
   */
  readonly name?: string;
  /** How to decide: `fixedWindow({ … })`, `tokenBucket({ … })`. */
  readonly policy: Policy;
  /** Where state lives; default a `memoryStore()` of this limiter's own. A store that you give stays yours to close. */
  readonly store?: Store;
  /** The first part of every storage key; default `'sluice'`. */
  readonly keyPrefix?: string;
  /** How long the answer of a remote store may take, the wait of `acquire` not counted; default 100 ms. */
  readonly deadline?: Duration;
}

/** Who is limited: a user's id, an address, a phone number, or one word for everybody. */
export type LimiterKey = string | number | bigint | boolean;

export interface ConsumeOptions {
  /** Permits that the call takes: a whole number ≥ 0, default 1. With 0 nothing is taken. */
  readonly cost?: number;
}

export interface AcquireOptions extends ConsumeOptions {
  /** The longest wait for the permits; default: as long as it takes. A wait that would be longer is refused at once. */
  readonly timeout?: Duration;
  /** Aborting it ends the wait and gives the permits back. */
  readonly signal?: AbortSignal;
}

/** Changes when the form of stored states does, so that old and new processes can run side by side. */
const LAYOUT = 'v1';
const NO_OPTIONS: AcquireOptions = {};
const NAME = /^[\w.:/@#-]{1,100}$/;

/** A limit that many keys are held to, each by itself. */
export class RateLimiter {
  readonly name: string;
  readonly policy: Policy;
  readonly #rule: Rule;
  readonly #store: Store;
  readonly #ownStore: Store | undefined;
  readonly #prefix: string;
  /** The waits of `acquire` that go on, each with what ends it. */
  readonly #waits = new Map<AbortController, Promise<void>>();
  #closed: LimiterClosedError | undefined;

  /** @throws RangeError, TypeError naming the option that is wrong. Does no I/O. */
  constructor(options: RateLimiterOptions) {
    checkOptions('RateLimiter', options, ['name', 'policy', 'store', 'keyPrefix', 'deadline']);
    const { name = 'default', policy, store, keyPrefix = 'sluice', deadline = 100 } = options;
    checkName('name', name);
    checkName('keyPrefix', keyPrefix);
    this.name = name;
    this.policy = policy;
    this.#rule = compilePolicy(policy);
    this.#ownStore = store === undefined ? memoryStore() : undefined;
    const given = store ?? this.#ownStore!;
    if (typeof given?.decide !== 'function') {
      throw new TypeError(
        `RateLimiter: store must be memoryStore() or redisStore(…), not ${describe(store)}`,
      );
    }
    if (store !== undefined && options.name === undefined) {
      throw new TypeError(
        "RateLimiter: a limit in a store of yours needs a name, such as 'login': two without would count together",
      );
    }
    this.#store = withDeadline(given, toMicros('RateLimiter: deadline', deadline));
    // Braces make the caller's key the hash tag, so that a cluster spreads keys over all its slots.
    this.#prefix = `${keyPrefix}:${LAYOUT}:${this.#rule.algorithm.tag}:${name}:{`;
  }

  /**
   * Takes permits now or says how long to wait. Resolves to the decision, allowed or denied.
   * @throws StoreUnavailableError, StoreConfigurationError, LimiterClosedError; RangeError for a wrong cost,
   *   KeyResolutionError for a wrong key
   */
  async consume(key: LimiterKey, options: ConsumeOptions = NO_OPTIONS): Promise<Decision> {
    const cost = checkCost('consume', options);
    return this.#decision(await this.#ask('consume', key, cost, 0), cost, 0);
  }

  /**
   * Takes permits, booking future ones if need be, and resolves when they are due: first come, first served, also among
   * processes, with a single question to the store.
   * @throws RateLimitExceededError when they are not to be had within `timeout`; the signal's reason when it is aborted;
   *   and all that `consume` throws
   */
  async acquire(key: LimiterKey, options: AcquireOptions = NO_OPTIONS): Promise<Decision> {
    const cost = checkCost('acquire', options, ['cost', 'timeout', 'signal']);
    const { timeout, signal } = options;
    if (signal !== undefined && typeof signal?.throwIfAborted !== 'function') {
      throw new TypeError(`acquire: signal must be an AbortSignal, not ${describe(signal)}`);
    }
    signal?.throwIfAborted();
    const { longestWait } = this.#rule;
    const maxWait =
      timeout === undefined ? longestWait : Math.min(toMicros('acquire: timeout', timeout, 0), longestWait);
    const answer = await this.#ask('consume', key, cost, maxWait);
    const decision = this.#decision(answer, cost, answer.wait);
    if (!decision.allowed) throw new RateLimitExceededError(decision);
    if (answer.wait > 0 || signal?.aborted || this.#closed) await this.#wait(key, cost, answer, signal);
    return decision;
  }

  /** What `consume` would say now; takes nothing. `remaining` counts what is left now. */
  async peek(key: LimiterKey, options: ConsumeOptions = NO_OPTIONS): Promise<Decision> {
    const cost = checkCost('peek', options);
    return this.#decision(await this.#ask('peek', key, cost, 0), cost, 0);
  }

  /** Forgets a key: all its permits are back. */
  async reset(key: LimiterKey): Promise<void> {
    this.#checkOpen();
    await this.#store.reset(this.#storageKey(key));
  }

  /** Ends all waits with a `LimiterClosedError`, gives their permits back, and closes the store if it is this limiter's own. */
  async close(): Promise<void> {
    this.#closed ??= new LimiterClosedError(`Limiter '${this.name}' was closed`);
    // The last booking first: a refund keeps back what was booked after it, for those have their moments already.
    for (const [stop, slept] of [...this.#waits].reverse()) {
      stop.abort(this.#closed);
      await slept.catch(() => {}); // its caller is told
    }
    await this.#ownStore?.close();
  }

  async #wait(key: LimiterKey, cost: number, { now, wait }: Answer, signal?: AbortSignal): Promise<void> {
    const stop = new AbortController();
    const aborted = () => stop.abort(signal?.reason);
    if (signal?.aborted) aborted();
    if (this.#closed !== undefined) stop.abort(this.#closed);
    const slept = this.#store.clock.sleep(wait, stop.signal).catch(async (reason: unknown) => {
      // Should the store be out, the permits stay spent: too few calls may go then, never too many.
      await this.#decide('refund', key, cost, 0, now + wait).catch(() => {});
      throw reason;
    });
    this.#waits.set(stop, slept);
    signal?.addEventListener('abort', aborted, { once: true });
    try {
      await slept;
    } finally {
      this.#waits.delete(stop);
      signal?.removeEventListener('abort', aborted);
    }
  }

  #ask(operation: Operation, key: LimiterKey, cost: number, maxWait: number): Promise<Answer> {
    this.#checkOpen();
    return this.#decide(operation, key, cost, maxWait, 0);
  }

  #decide(operation: Operation, key: LimiterKey, cost: number, maxWait: number, at: number): Promise<Answer> {
    return this.#store.decide({ key: this.#storageKey(key), rule: this.#rule, operation, cost, maxWait, at });
  }

  #storageKey(key: LimiterKey): string {
    return `${this.#prefix}${encodeKey(keyPart(key, `the key of limiter '${this.name}'`))}}`;
  }

  #checkOpen(): void {
    if (this.#closed !== undefined) throw this.#closed;
  }

  #decision({ allowed, remaining, wait, reset }: Answer, cost: number, waited: number): Decision {
    const never = wait === NEVER ? Number.POSITIVE_INFINITY : toMs(wait);
    return {
      allowed,
      name: this.name,
      cost,
      limit: this.#rule.limit,
      window: toMs(this.#rule.window),
      remaining,
      retryAfter: allowed ? 0 : never,
      resetAfter: toMs(reset),
      waited: allowed ? toMs(waited) : 0,
      source: this.#store.name,
    };
  }
}

/** Refuses `consume(key, 5)` and misspelt options, which would otherwise count as 1. */
function checkCost(method: string, options: ConsumeOptions, accepted: readonly string[] = ['cost']): number {
  if (options === NO_OPTIONS) return 1;
  checkOptions(method, options, accepted);
  return checkInteger(`${method}: cost`, options.cost === undefined ? 1 : options.cost, 0);
}

/** Rounded up: at this many whole milliseconds the moment has come. */
const toMs = (micros: number) => Math.ceil(micros / 1000);

function checkName(option: string, value: unknown): void {
  if (typeof value !== 'string' || !NAME.test(value)) {
    throw new TypeError(
      `RateLimiter: ${option} must be 1 to 100 letters, digits or . _ - : / @ #, not ${describe(value)}`,
    );
  }
}
