import { performance } from 'node:perf_hooks';
import { type DecisionMessage, subscribe } from '@sluice/core';
import {
  checkInteger,
  checkOneOf,
  checkOptions,
  describe,
  hashStoredKey,
  isPromise,
  RecentMap,
  warn,
} from '@sluice/core/internal';

/** A pino, bunyan or Fastify logger; or a console, which gets one line of JSON text. */
export interface DenialLogger {
  /** May return a promise. */
  warn(fields: object | string, message?: string): unknown;
}

/** The options of `logDenials`. */
export interface LogDenialsOptions {
  /** Of the denials of one key, one in `sample` is logged, the first at once; default 100. 1 logs all. */
  readonly sample?: number | undefined;
  /** Most lines in a second; default 100. A denial of many keys is otherwise a line for each of them. */
  readonly maxPerSecond?: number | undefined;
  /**
   * `'plain'`: log keys as they are stored, which may be personal data. Default `'hash'`: log `#` and 16 characters of their SHA-256, the
   * same in every process.
   */
  readonly keys?: 'plain' | 'hash' | undefined;
  /** Log denials of these limiters only; default: of all. */
  readonly limiters?: readonly string[] | undefined;
}

/** One logged denial. */
export interface DenialLine {
  readonly limiter: string;
  /** The policy that denied. */
  readonly policy: string;
  /** At most 128 characters, none of which is a control character. */
  readonly key: string;
  /** The costs of all of them, in permits. */
  readonly cost: number;
  readonly limit: number;
  /** ms until the same call can pass; `Infinity`, which JSON writes as null: never. */
  readonly retryAfter: number;
  /** `shadow`: the denial was not enforced. */
  readonly mode: 'enforce' | 'shadow';
  /** Where the decision was made. */
  readonly source: string;
  /** The store was out, and the failure policy decided. */
  readonly degraded: boolean;
  /** Denials of this key, limiter, policy and mode since its last line, which were not logged. */
  readonly suppressed: number;
}

const OPTIONS = ['sample', 'maxPerSecond', 'keys', 'limiters'] as const;
const WHERE = 'logDenials';
const MESSAGE = 'rate limit denied a call';

/** Keys that are remembered. A key that was denied less recently than that many others counts as new. */
const MOST_KEYS = 10_000;

/**
 * Logs a sample of the denied calls of this process's limiters, one structured line each, as warnings. An error of the logger fails no
 * decision: the line is lost, and the process warns once.
 * @returns a function that ends it
 * @throws TypeError or RangeError for a wrong logger or option
 */
export function logDenials(logger: DenialLogger, options: LogDenialsOptions = {}): () => void {
  if (typeof logger?.warn !== 'function') {
    throw new TypeError(
      `${WHERE}: pass a logger with a method warn(fields, message), such as pino() or console, not ${describe(logger)}`,
    );
  }
  checkOptions(WHERE, options, OPTIONS);
  const log = new DenialLog(
    logger,
    checkInteger(`${WHERE}: sample`, options.sample ?? 100, 1),
    checkInteger(`${WHERE}: maxPerSecond`, options.maxPerSecond ?? 100, 1),
    checkOneOf(`${WHERE}: keys`, options.keys ?? 'hash', ['plain', 'hash']),
  );
  const limiters = checkLimiters(options.limiters);
  return subscribe('sluice:decision', (message) => {
    if (message.result !== 'denied') return;
    if (limiters === undefined || limiters.has(message.limiter)) log.denied(message);
  });
}

function checkLimiters(limiters: unknown): ReadonlySet<unknown> | undefined {
  if (limiters === undefined) return undefined;
  if (!Array.isArray(limiters) || !limiters.every((name) => typeof name === 'string')) {
    throw new TypeError(`${WHERE}: limiters must be an array of limiters' names, not ${describe(limiters)}`);
  }
  return new Set(limiters);
}

/** The counts of a key. */
interface Suppressed {
  /** Denials since its last line. */
  count: number;
  /** Denials until its next line; 0 or less: the next one. */
  left: number;
}

class DenialLog {
  readonly #keys = new RecentMap<string, Suppressed>(MOST_KEYS, () => false);
  /** The beginning of the present second, ms, and the lines in it. */
  #second = Number.NEGATIVE_INFINITY;
  #lines = 0;
  #hasWarned = false;

  constructor(
    readonly logger: DenialLogger,
    readonly sample: number,
    readonly maxPerSecond: number,
    readonly keys: 'plain' | 'hash',
  ) {}

  denied(message: DecisionMessage): void {
    const suppressed = this.#suppressedOf(message);
    suppressed.left -= 1;
    if (suppressed.left >= 0 || !this.#hasRoom()) {
      suppressed.count += 1;
      return;
    }
    const line = this.#lineOf(message, suppressed.count);
    suppressed.count = 0;
    suppressed.left = this.sample - 1;
    this.#write(line);
  }

  #suppressedOf({ limiter, mode, key, decision }: DecisionMessage): Suppressed {
    const id = `${limiter} ${decision!.policy} ${mode} ${key}`;
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    const first = { count: 0, left: 0 };
    this.#keys.set(id, first);
    return first;
  }

  #hasRoom(): boolean {
    const now = performance.now();
    if (now - this.#second >= 1000) {
      this.#second = now;
      this.#lines = 0;
    }
    if (this.#lines >= this.maxPerSecond) return false;
    this.#lines += 1;
    return true;
  }

  #lineOf({ limiter, mode, key, cost, decision }: DecisionMessage, suppressed: number): DenialLine {
    const { policy, limit, retryAfter, source, degraded } = decision!;
    return {
      limiter,
      policy,
      key: this.keys === 'hash' ? hashStoredKey(key) : key,
      cost,
      limit,
      retryAfter,
      mode,
      source,
      degraded,
      suppressed,
    };
  }

  #write(line: DenialLine): void {
    try {
      const written = isConsole(this.logger)
        ? this.logger.warn(
            JSON.stringify({ time: new Date().toISOString(), level: 'warn', msg: MESSAGE, ...line }),
          )
        : this.logger.warn(line, MESSAGE);
      if (isPromise(written)) written.then(undefined, this.#failed);
    } catch (error) {
      this.#failed(error);
    }
  }

  readonly #failed = (error: unknown): void => {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    warn(
      'SLUICE_LOG_FAILED',
      `${WHERE}: the logger failed, so lines are missing in the log: ${textOf(error)}. The next line is tried again, without another warning`,
    );
  };
}

/** A console prints an object in several lines. */
const isConsole = (logger: object): boolean => 'table' in logger;

const textOf = (error: unknown): string =>
  error instanceof Error ? String(error.message).slice(0, 200) : describe(error);
