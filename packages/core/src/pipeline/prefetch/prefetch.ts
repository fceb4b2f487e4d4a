import { decideByFallback, isDegraded } from '../../call/answers.js';
import type { Answer, AnswerSource, Decider, KeyCall, Part } from '../../call/call.js';
import type { CallDeadline } from '../../call/deadlines.js';
import type { PendingCall } from '../../call/pending-call.js';
import type { MaybePromise } from '../../maybe-promise.js';
import { type PermitPool, PermitPools, refundOf, type Upstream } from './permit-pool.js';

/** The last thousandth of a permit's life is not used, because clocks of two machines drift apart. */
const DRIFT = 1000;

interface StagedUpstream extends Upstream, Decider {
  readonly times: { newDeadline(): CallDeadline };
}

/**
 * Answers calls by permits that were prefetched in blocks, where a limit allows that. No call is denied while its permits are
 * in this process. Unused permits return to the store before any operation but a `consume` of one part.
 */
export class Prefetch {
  readonly #source: AnswerSource;

  constructor(private readonly upstream: StagedUpstream) {
    this.#source = { name: 'prefetch', decider: upstream };
  }

  /** May permits that are here, or on their way, answer the call? Then no cached denial does. */
  mayAnswer(call: KeyCall): boolean {
    return call.several !== undefined || poolOf(call)?.holds === true;
  }

  /** The answer by permits that are here, without waiting for others. */
  takeNow(call: KeyCall): Answer | undefined {
    if (call.several !== undefined || call.traced || call.cost === 0) return undefined;
    return poolOf(call)?.take(call.cost, this.upstream.clock.now(), this.#source);
  }

  /** @returns whether it answers the call. Otherwise the call needs the store */
  handles(call: PendingCall): boolean {
    const { operation } = call;
    if (operation === 'refund' || operation === 'renew') return false;
    const upstream = this.upstream;
    if (operation === 'consume' && call.several === undefined && !call.traced) {
      const pool = call.cost === 0 ? undefined : poolsOf(call)?.of(call, upstream);
      const answer = pool && this.#consume(pool, call);
      if (answer === undefined) return false;
      call.follow(answer);
      return true;
    }
    const pools = call.parts.flatMap((part) => poolOf(part) ?? []);
    const inUse = pools.filter((pool) => pool.taking !== undefined || pool.usable(upstream.clock.now()) > 0);
    if (inUse.length === 0) return false;
    call.follow(operation === 'peek' ? this.#peek(call) : this.#withPoolsEmptied(inUse, call));
    return true;
  }

  /** The store has answered a call: the next block of its key depends on it. */
  learn(call: KeyCall, answer: Answer): void {
    if (call.operation !== 'consume' || call.several !== undefined || answer.source !== undefined) return;
    poolOf(call)?.learn(answer, lifeOf(call, answer));
  }

  /** Undefined for a call that needs a permit and no block. */
  #consume(pool: PermitPool, call: KeyCall): MaybePromise<Answer> | undefined {
    const now = this.upstream.clock.now();
    const here = pool.take(call.cost, now, this.#source);
    if (here !== undefined) return here;
    const { taking } = pool;
    if (taking !== undefined) {
      return this.#staged((deadline) =>
        pool.claim(call.cost)
          ? this.#awaitBlock(pool, call, taking, deadline)
          : this.#takeBesideBlock(pool, call, deadline),
      );
    }
    const extra = pool.next(now);
    if (extra === 0 && !pool.holds) return undefined;
    return this.#staged((deadline) => this.#takeBlock(pool, call, extra, deadline));
  }

  /** Takes what the call needs and `extra` more. The permits here are too few for the call: they are given back. */
  async #takeBlock(pool: PermitPool, call: KeyCall, extra: number, deadline: CallDeadline): Promise<Answer> {
    const upstream = this.upstream;
    const sentAt = upstream.clock.now();
    const rest = pool.withdraw(sentAt);
    const back = rest && pool.giveBack(rest, sentAt);
    const { limit, key, cost, at } = call;
    const taken = { limit, key, cost: cost + extra, at };
    const taking = upstream.request({ operation: 'consume', wait: 0, parts: [taken] }, deadline);
    pool.expect(taking, extra);
    let answer: Answer;
    try {
      answer = await taking;
    } finally {
      pool.expect(undefined, 0);
    }
    if (isDegraded(answer)) {
      if (answer.allowed) await answer.source.decider.decide(refundOf(taken, answer));
      return decideByFallback(answer, call);
    }
    if (!answer.allowed) {
      if (back !== undefined) await deadline.until(back);
      return upstream.request(call, deadline);
    }
    const life = lifeOf(call, answer);
    if (extra > 0) pool.put({ part: taken, answer, sentAt, until: sentAt + life, left: extra });
    const [first] = answer.parts;
    return { ...answer, parts: [{ ...first!, remaining: first!.remaining + extra }] };
  }

  async #takeBesideBlock(pool: PermitPool, call: KeyCall, deadline: CallDeadline): Promise<Answer> {
    const answer = await this.upstream.request(call, deadline);
    if (answer.allowed || isDegraded(answer)) return answer;
    // Denied, unless permits have arrived meanwhile, or the store and the permits here have enough together.
    const { clock } = this.upstream;
    if (pool.taking !== undefined) await deadline.until(pool.taking);
    const here = pool.take(call.cost, clock.now(), this.#source);
    if (here !== undefined || pool.usable(clock.now()) === 0) return here ?? answer;
    await deadline.until(pool.empty());
    return deadline.over ? answer : this.upstream.request(call, deadline);
  }

  /**
   * The block on its way also has permits for this call, and arrives before an answer to a request of its own. If the block fails, so does
   * this call: a second request would take the time of a second deadline.
   */
  async #awaitBlock(
    pool: PermitPool,
    call: KeyCall,
    taking: Promise<Answer>,
    deadline: CallDeadline,
  ): Promise<Answer> {
    deadline.begin();
    const answer = await taking;
    if (isDegraded(answer)) return decideByFallback(answer, call);
    const here = pool.take(call.cost, this.upstream.clock.now(), this.#source);
    return here ?? this.#takeBesideBlock(pool, call, deadline);
  }

  /** A call of several parts, or an operation that is not `consume`. */
  #withPoolsEmptied(pools: readonly PermitPool[], call: KeyCall): Promise<Answer> {
    const upstream = this.upstream;
    return this.#staged(async (deadline) => {
      const first = call.operation === 'consume' ? await upstream.request(call, deadline) : undefined;
      if (first?.allowed || (first !== undefined && isDegraded(first))) return first;
      const reset = call.operation === 'reset';
      const work = pools.map((pool) => (reset ? pool.clear() : pool.empty()));
      await deadline.until(Promise.all(work));
      return first !== undefined && deadline.over ? first : upstream.request(call, deadline);
    });
  }

  /** The answer that `consume` would get, with the permits here included. */
  async #peek(call: KeyCall): Promise<Answer> {
    const answer = await this.upstream.request(call);
    const now = this.upstream.clock.now();
    const parts = call.parts.map((part, i) => {
      const own = answer.parts[i]!;
      const usable = poolOf(part)?.usable(now) ?? 0;
      return { ...own, remaining: own.remaining + usable, wait: usable >= part.cost ? 0 : own.wait };
    });
    const helps =
      parts.some(({ wait }, i) => wait !== answer.parts[i]!.wait) && parts.every(({ wait }) => wait === 0);
    return helps ? { ...answer, allowed: true, wait: 0, parts } : { ...answer, parts };
  }

  /** Runs all stages of a call within one deadline. */
  async #staged(work: (deadline: CallDeadline) => Promise<Answer>): Promise<Answer> {
    const deadline = this.upstream.times.newDeadline();
    try {
      return await work(deadline);
    } finally {
      deadline.end();
    }
  }
}

const poolsOf = ({ limit: { prefetch } }: Part): PermitPools | undefined =>
  prefetch instanceof PermitPools ? prefetch : undefined;

const poolOf = (part: Part): PermitPool | undefined => poolsOf(part)?.find(part);

/** µs for which permits taken with this answer may be used. */
function lifeOf(part: Part, { now, parts: [first] }: Answer): number {
  const { rule } = part.limit;
  if (first!.override !== undefined) return 0;
  const { longest } = poolsOf(part)!.limits;
  const parameters = rule.parametersAt?.(now) ?? rule.parameters;
  const usable = rule.algorithm.prefetch?.usableFor?.(parameters, now, first!.reset) ?? longest;
  const life = Math.min(usable, longest);
  return life - Math.ceil(life / DRIFT);
}
