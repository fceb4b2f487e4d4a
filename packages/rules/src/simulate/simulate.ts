import type { Duration } from '@sluice/core';
import { checkInteger, checkOptions, isPromise, toMicros } from '@sluice/core/internal';
import type { RuleSet } from '../rule-set.js';
import { Comparison } from './comparison.js';
import { InOrder } from './in-order.js';
import type { LogRequest } from './log/log-request.js';
import { type LogCounts, type LogOptions, type LogSource, newCounts, readLog } from './log/read-log.js';
import { Replay } from './replay.js';
import type { Simulation } from './report.js';
import { checkTarget, withSmallest } from './target.js';

export interface SimulateOptions extends LogOptions {
  /** The present rules: adds the requests and keys that are newly denied and newly allowed. */
  readonly against?: RuleSet | undefined;
  /**
   * A share from 0 to below 1: adds, for each limit, the smallest number with which it denies at most that share. Reads the log several
   * times, so every source must be a file.
   */
  readonly target?: number | undefined;
  /** How far lines may be out of order; default `'10s'`. */
  readonly sortWithin?: Duration | undefined;
  /** The most keys in each store and each figure; default 1,000,000. */
  readonly maxKeys?: number | undefined;
}

const OPTIONS = ['format', 'fields', 'signal', 'against', 'target', 'sortWithin', 'maxKeys'];

/**
 * Replays a log through rules, on the log's clock, to show which requests they would deny. Uses the code that decides live requests.
 * @param log one file or several, read one after the other; names that end with `.gz` are compressed
 * @throws TypeError, RangeError for a wrong option; LogFormatError; errors of the file system
 */
export async function simulate(
  rules: RuleSet,
  log: LogSource | readonly LogSource[],
  options: SimulateOptions = {},
): Promise<Simulation> {
  checkOptions('simulate', options, OPTIONS);
  const { against, target, maxKeys = 1_000_000, sortWithin = '10s', ...reading } = options;
  checkInteger('simulate: maxKeys', maxKeys, 1, 16_000_000);
  const within = toMicros('simulate: sortWithin', sortWithin, 0);
  if (target !== undefined) checkTarget(target, log);
  const run = new Run(rules, against, maxKeys);
  try {
    const counts = newCounts();
    const late = await inOrder(readLog(log, reading, counts), within, (request) => run.take(request));
    const found = run.simulation(counts, late);
    if (target === undefined) return found;
    const again = (each: (request: LogRequest) => unknown) =>
      inOrder(first(counts.requests, readLog(log, reading)), within, each);
    return { ...found, rules: await withSmallest(rules, found.rules, target, maxKeys, again) };
  } finally {
    await run.close();
  }
}

/** Calls `each` with the requests in the order of their moments. @returns how many arrived too late to be sorted */
async function inOrder(
  batches: AsyncIterable<readonly LogRequest[]>,
  within: number,
  each: (request: LogRequest) => unknown,
): Promise<number> {
  const order = new InOrder(within);
  for await (const batch of batches) {
    for (const request of batch) {
      order.add(request);
      for (let next = order.next(); next !== undefined; next = order.next()) {
        const taken = each(next);
        // A promise for each request would take longer than its decision.
        if (isPromise(taken)) await taken;
      }
    }
  }
  for (let next = order.next(true); next !== undefined; next = order.next(true)) await each(next);
  return order.late;
}

/** A log can grow while it is read. @throws Error if it became shorter */
async function* first(
  requests: number,
  batches: AsyncIterable<readonly LogRequest[]>,
): AsyncGenerator<readonly LogRequest[]> {
  let left = requests;
  for await (const batch of batches) {
    yield batch.slice(0, left);
    left -= batch.length;
    if (left <= 0) return;
  }
  if (left > 0) throw new Error('The log became shorter while it was read: simulate a copy of it');
}

/** One pass over a log. */
class Run {
  readonly #now: Replay;
  readonly #before: Replay | undefined;
  readonly #comparison = new Comparison();
  #from: number | undefined;
  #to: number | undefined;
  #wholeSeconds = true;
  #durations = false;

  constructor(rules: RuleSet, against: RuleSet | undefined, maxKeys: number) {
    this.#now = new Replay(rules, { maxKeys });
    this.#before = against && new Replay(against, { maxKeys });
  }

  take(request: LogRequest): unknown {
    const { time, duration } = request;
    if (this.#from === undefined || time < this.#from) this.#from = time;
    if (this.#to === undefined || time > this.#to) this.#to = time;
    this.#wholeSeconds &&= time % 1_000_000 === 0;
    this.#durations ||= duration !== undefined;
    const now = this.#now.decide(request);
    if (this.#before === undefined) return now;
    const before = this.#before.decide(request);
    if (isPromise(now) || isPromise(before))
      return Promise.all([now, before]).then(([one, other]) => this.#comparison.add(one, other));
    return this.#comparison.add(now, before);
  }

  simulation({ files, lines, requests, bad, firstBad }: LogCounts, late: number): Simulation {
    const ms = (micros: number | undefined) => (micros === undefined ? undefined : micros / 1000);
    const { newlyDenied, newlyAllowed } = this.#comparison;
    const compared = this.#before !== undefined;
    return {
      log: {
        ...{ files, lines, requests, bad, firstBad, late },
        from: ms(this.#from),
        to: ms(this.#to),
        wholeSeconds: this.#wholeSeconds && requests > 0,
        durations: this.#durations,
      },
      rules: this.#now.report,
      against: this.#before?.report,
      newlyDenied: compared ? newlyDenied.difference : undefined,
      newlyAllowed: compared ? newlyAllowed.difference : undefined,
    };
  }

  async close(): Promise<void> {
    await this.#now.close();
    await this.#before?.close();
  }
}
