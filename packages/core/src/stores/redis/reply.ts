import { type Answer, answerOf, type PartAnswer, type Trace } from '../../call/call.js';
import type { PendingCall } from '../../call/pending-call.js';
import {
  ALLOWED,
  ELSEWHERE,
  FAILED,
  QUEUED,
  RATE_NOT_SET,
  RUN,
  SAME_ALLOWED,
  SAME_DENIED,
  UNDECLARED,
} from '../../engine/reply-codes.js';
import { RateNotSetError, StoreConfigurationError } from '../../errors.js';
import { describe } from '../../options.js';
import type { RateAnswer } from '../shared-rate.js';
import { type KeyGroup, learn } from './batch.js';
import { classified } from './errors.js';

/** Groups that could not be decided with undeclared keys. Nothing was written for them. */
export interface Undecided {
  readonly undecided: readonly KeyGroup[];
  /** The server's error if keys must be declared. */
  readonly refusal: string | undefined;
}

/**
 * Answers each call of the groups by the reply of `decide.lua`.
 * @throws StoreConfigurationError if it is not such a reply; then some calls may be answered, and some not
 */
export function answerCalls(groups: readonly KeyGroup[], reply: Numbers): Undecided {
  const now = reply.next();
  const undecided: KeyGroup[] = [];
  let refusal: string | undefined;
  for (const group of groups) {
    const { calls } = group;
    for (let i = 0; i < calls.length; ) {
      const code = reply.next();
      if (code >= 0) {
        // An allowed call of one key, which most calls are: the code is the number of permits left.
        const pending = calls[i]!;
        if (pending.operation === 'acquire') learn(pending, 0);
        pending.owner.answered(pending, answerOf(now, 0, now, code, reply.next()));
        i += 1;
        continue;
      }
      if (code === ELSEWHERE || code === UNDECLARED) {
        undecided.push(group);
        if (code === UNDECLARED) refusal = reply.text();
        break;
      }
      i += answerNext(calls, i, code, now, reply);
    }
  }
  return { undecided, refusal };
}

/** @returns the number of calls answered */
function answerNext(
  calls: readonly PendingCall[],
  i: number,
  code: number,
  now: number,
  reply: Numbers,
): number {
  if (code === RUN) return answerRun(calls, i, now, reply);
  if (code === SAME_DENIED || code === SAME_ALLOWED) return answerAlike(calls, i, now, reply);
  if (code === FAILED) {
    const text = reply.text().replace(LINE, '');
    const cause = new Error(/^[A-Z]+ /.test(text) ? text : `ERR ${text}`);
    const error = classified(cause, undefined, false, reply.maker);
    for (const each of calls) each.failed(error);
    return calls.length;
  }
  const pending = calls[i]!;
  const { parts } = pending;
  if (code === RATE_NOT_SET) {
    pending.failed(new RateNotSetError(parts[0]!.limit.shared!.name));
  } else {
    const wait = reply.next();
    const answers = parts.map(({ limit }): PartAnswer => {
      const [remaining, own, reset, at] = [reply.next(), reply.next(), reply.next(), reply.next()];
      const answer = { remaining, wait: own, reset, at, override: given(reply.list()) };
      if (limit.rule.escalation === undefined) return answer;
      return { ...answer, blocked: reply.next(), step: reply.next() };
    });
    const answered = pending.traced ? answers.map((part) => ({ ...part, trace: traceOf(reply) })) : answers;
    answerOne(pending, { allowed: code === ALLOWED, queued: code === QUEUED, now, wait, parts: answered });
  }
  return 1;
}

/** The trace of one part: inputs and outputs of its decision. */
function traceOf(reply: Numbers): Trace {
  const [parameters, before, after] = [reply.list(), reply.list(), reply.list()];
  const queue = reply.list();
  const [blockedUntil = 0] = reply.list();
  return { parameters, before: given(before), after: given(after), queue, blockedUntil };
}

const given = (numbers: readonly number[]) => (numbers.length === 0 ? undefined : numbers);

/** The place in the script; before Redis 7 also before the error of a command. */
const LINE = /^@?user_script: ?\d+: (?:@user_script: ?\d+: )?/;

/** Equal calls that took their permits, one after the other. @returns the number of calls answered */
function answerRun(calls: readonly PendingCall[], i: number, now: number, reply: Numbers): number {
  const count = Math.max(1, reply.next());
  const run = { remaining: reply.next(), first: reply.next(), owed: reply.next() };
  const { cost, limit } = calls[i]!.parts[0]!;
  const { algorithm, parameters } = limit.rule;
  const expandRun = algorithm.speed?.expandRun;
  if (expandRun === undefined)
    throw new StoreConfigurationError(
      `redisStore: the script returned a run for the algorithm '${algorithm.tag}', which has none`,
    );
  let next = i;
  expandRun(parameters, cost, Math.min(count, calls.length - i), run, (remaining, reset) => {
    answerOne(calls[next]!, answerOf(now, 0, now, remaining, reset));
    next += 1;
  });
  return count;
}

/** Consecutive calls that took nothing and so have the same answer. @returns the number of calls answered */
function answerAlike(calls: readonly PendingCall[], i: number, now: number, reply: Numbers): number {
  const count = Math.max(1, reply.next());
  const answer = answerOf(now, reply.next(), 0, reply.next(), reply.next());
  const end = Math.min(i + count, calls.length);
  for (let n = i; n < end; n += 1) answerOne(calls[n]!, answer);
  return count;
}

function answerOne(pending: PendingCall, answer: Answer): void {
  if (pending.operation === 'acquire') learn(pending, answer.wait);
  pending.owner.answered(pending, answer);
}

/** The reply of `shared-rate.lua`. */
export function rateAnswer([changed, keepAlive, perClient, ...parameters]: readonly number[]): RateAnswer {
  if (keepAlive === undefined) return { changed: changed === 1, rate: undefined };
  return { changed: changed === 1, rate: { keepAlive, perClient: perClient === 1 ? 1 : 0, parameters } };
}

/** A reply of a script, number by number. */
export class Numbers {
  readonly #reply: readonly unknown[];
  #place = 0;

  /** @param maker the function that makes the store, for messages */
  constructor(
    reply: unknown,
    readonly maker?: string,
  ) {
    if (Array.isArray(reply)) this.#reply = reply;
    else this.#reply = ArrayBuffer.isView(reply) ? unpacked(reply as Buffer) : [reply];
  }

  next(): number {
    const value = this.#reply[this.#place];
    this.#place += 1;
    return Number.isSafeInteger(value) ? (value as number) : numberOf(value);
  }

  text(): string {
    const value = this.#reply[this.#place];
    this.#place += 1;
    return String(value);
  }

  /** Reads a length, then that many numbers. */
  list(): number[] {
    const size = this.next();
    return Array.from({ length: size }, () => this.next());
  }

  rest(): number[] {
    const numbers: number[] = [];
    while (this.#place < this.#reply.length) numbers.push(this.next());
    return numbers;
  }
}

const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Clients can be set to return numbers as text, and their parsers round the largest number up.
 * @throws StoreConfigurationError unless it is an integer
 */
function numberOf(given: unknown): number {
  const value = typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given;
  if (!Number.isInteger(value) || Math.abs(value as number) > MOST + 1) {
    throw new StoreConfigurationError(
      `redisStore: the script returned ${describe(value)} instead of an integer`,
    );
  }
  return Math.min(value as number, MOST);
}

/**
 * Reads a list of texts and whole numbers that `cmsgpack.pack` has packed; see the MessagePack specification.
 * @throws StoreConfigurationError if the bytes are anything else
 */
export function unpacked(bytes: Buffer): unknown[] {
  let place = 1;
  const whole = (size: number): number => {
    let value = 0;
    for (const end = place + size; place < end; place += 1) value = value * 256 + bytes[place]!;
    return value;
  };
  const first = bytes[0]!;
  const count = first === 0xdc ? whole(2) : first === 0xdd ? whole(4) : first & 0x0f;
  if (first >> 4 !== 0x9 && place === 1) throw foreign();
  const values: unknown[] = [];
  while (values.length < count && place < bytes.length) {
    const tag = bytes[place]!;
    place += 1;
    if (tag < 0x80) values.push(tag);
    else if (tag >= 0xe0) values.push(tag - 256);
    else if (tag >= 0xcc && tag <= 0xcf) values.push(whole(1 << (tag - 0xcc)));
    else if (tag >= 0xd0 && tag <= 0xd3) values.push(signed(1 << (tag - 0xd0)));
    else if (tag >> 5 === 0x5) values.push(text(tag & 0x1f));
    else if (tag >= 0xd9 && tag <= 0xdb) values.push(text(whole(1 << (tag - 0xd9))));
    else throw foreign();
  }
  if (values.length < count || place !== bytes.length) throw foreign();
  return values;

  /** Two's complement. In two halves, because 2^64 is beyond exact numbers. */
  function signed(size: number): number {
    const high = whole(Math.min(size, 4));
    const bits = 8 * Math.min(size, 4);
    const value = high >= 2 ** (bits - 1) ? high - 2 ** bits : high;
    return size === 8 ? value * 2 ** 32 + whole(4) : value;
  }

  function text(size: number): string {
    place += size;
    return bytes.toString('utf8', place - size, place);
  }
}

const foreign = () =>
  new StoreConfigurationError('redisStore: the script returned bytes that are not one of its replies');
