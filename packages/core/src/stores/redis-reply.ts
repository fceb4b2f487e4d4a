import type { PartAnswer } from '../decisions/call.js';
import { RateNotSetError, StoreConfigurationError } from '../errors.js';
import { describe } from '../options.js';
import type { RateAnswer } from '../shared-rates/stored-rate.js';
import type { Asking } from './asking.js';
import { learn, type Visit } from './batch.js';
import { classified } from './redis-errors.js';

/**
 * Settles each call of the visits by what the reply of `decide.lua` says to it.
 * @throws StoreConfigurationError when it is not such a reply; then some may be settled, and some not
 */
export function settle(visits: readonly Visit[], reply: Numbers): void {
  const now = reply.next();
  for (const { asked } of visits) {
    for (let i = 0; i < asked.length; ) i += settleNext(asked, i, now, reply);
  }
}

/** @returns how many it settled */
function settleNext(asked: readonly Asking[], i: number, now: number, reply: Numbers): number {
  const word = reply.next();
  if (word >= DENIED && word <= FREE) return settleRow(asked, i, now, word, reply);
  if (word === FAILED) {
    const text = reply.text().replace(LINE, '');
    const error = classified(new Error(/^[A-Z]+ /.test(text) ? text : `ERR ${text}`));
    for (const asking of asked) asking.failed(error);
    return asked.length;
  }
  const asking = asked[i]!;
  const { parts } = asking.call;
  if (word === NOT_SET) {
    asking.failed(new RateNotSetError(parts[0]!.shared!.name));
  } else {
    const wait = reply.next();
    const told = parts.map((): PartAnswer => {
      const [remaining, own, reset, at] = [reply.next(), reply.next(), reply.next(), reply.next()];
      const size = reply.next();
      const override = size > 0 ? Array.from({ length: size }, () => reply.next()) : undefined;
      return { remaining, wait: own, reset, at, override };
    });
    const answer = { allowed: word === 5, queued: word === 6, now, wait, parts: told };
    learn(asking.call, answer);
    asking.answered(answer);
  }
  return 1;
}

/** Words; see the header of `decide.lua`. */
const DENIED = 0;
const ONE = 1;
const ROW = 2;
const FREE = 3;
const NOT_SET = -1;
const FAILED = -2;
/** Where in the script it went wrong; before Redis 7 also for what a command answers. */
const LINE = /^@?user_script: ?\d+: (?:@user_script: ?\d+: )?/;

/** Calls in a row that were answered alike, or by steps. @returns how many */
function settleRow(asked: readonly Asking[], i: number, now: number, word: number, reply: Numbers): number {
  const allowed = word !== DENIED;
  const count = word === ONE ? 1 : Math.max(1, reply.next());
  const wait = word === DENIED || word === FREE ? reply.next() : 0;
  let remaining = reply.next();
  let reset = reply.next();
  const fewer = word === ROW ? reply.next() : 0;
  const later = word === ROW ? reply.next() : 0;
  const at = word === ONE || word === ROW ? now : 0;
  const end = Math.min(i + count, asked.length);
  for (let n = i; n < end; n += 1) {
    const part = { remaining, wait, reset, at, override: undefined };
    const answer = { allowed, queued: false, now, wait, parts: [part] };
    learn(asked[n]!.call, answer);
    asked[n]!.answered(answer);
    remaining += fewer;
    reset += later;
  }
  return count;
}

/** A reply of a script, number by number. */
export class Numbers {
  readonly #reply: readonly unknown[];
  #place = 0;

  constructor(reply: unknown) {
    this.#reply = Array.isArray(reply) ? reply : [reply];
  }

  next(): number {
    const told = this.#reply[this.#place];
    // Clients may be set to give numbers as text, and their parsers round the largest that there is up.
    const value = typeof told === 'string' && /^-?\d+$/.test(told) ? Number(told) : told;
    if (!Number.isInteger(value) || Math.abs(value as number) > MOST + 1) {
      throw new StoreConfigurationError(
        `redis store: the script answered ${describe(value)} where integers were due`,
      );
    }
    this.#place += 1;
    return Math.min(value as number, MOST);
  }

  text(): string {
    const value = this.#reply[this.#place];
    this.#place += 1;
    return String(value);
  }

  rest(): number[] {
    const numbers: number[] = [];
    while (this.#place < this.#reply.length) numbers.push(this.next());
    return numbers;
  }
}

const MOST = Number.MAX_SAFE_INTEGER;

/** The reply of `shared-rate.lua`. */
export function rateAnswer([changed, keepAlive, perClient, ...parameters]: readonly number[]): RateAnswer {
  if (keepAlive === undefined) return { changed: changed === 1, rate: undefined };
  return { changed: changed === 1, rate: { keepAlive, perClient: perClient === 1 ? 1 : 0, parameters } };
}
