import { getEventListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Decision,
  isLimiterClosedError,
  isRateLimitExceededError,
  isRateNotSetError,
  isStoreUnavailableError,
} from '../../../packages/core/src/index.js';
import { fractionsFrom, TEST_SEED } from '../../support/random.js';
import type { Came, Ledger } from './ledger.js';
import { DEADLINE, type Limits, type Stand } from './limits.js';

const KEYS = 300;
/** Most requests to the store by one call, each within its deadline: wait, renew, release, … */
const QUESTIONS = 8;
const ABORTED = new Error('aborted by the caller');
const FAILED = new Error('the task failed');

const fraction = fractionsFrom(TEST_SEED);
const among = <T>(things: readonly T[]): T => things[Math.floor(things.length * fraction())]!;
const upTo = (most: number): number => Math.floor((most + 1) * fraction());
const key = (): string => `user-${Math.floor(KEYS * fraction() ** 2)}`;

/** Random calls of every kind, and the permitted outcomes of each. */
export class Calls {
  /** Long-lived, as in a server: many waits share them. */
  readonly #signals = Array.from({ length: 4 }, () => new AbortController());
  readonly #kinds: readonly (() => Promise<void>)[];

  constructor(
    readonly limits: Limits,
    readonly ledger: Ledger,
  ) {
    const asking = [this.#consume, this.#consume, this.#consume, this.#peek, this.#acquire, this.#acquire];
    const holding = [this.#hold, this.#schedule, this.#reserve, this.#combine];
    this.#kinds = [...asking, ...holding, this.#share, this.#change, this.#guest];
  }

  one(): Promise<void> {
    return among(this.#kinds).call(this);
  }

  /** Ends the waits that share a signal. */
  callOff(): void {
    for (const controller of this.#signals) controller.abort(ABORTED);
  }

  get listeners(): number {
    return this.#signals.reduce((sum, { signal }) => sum + getEventListeners(signal, 'abort').length, 0);
  }

  #consume(): Promise<void> {
    const { limiter, stand } = among(this.limits.rates);
    return this.ledger.enter('consume', DEADLINE, () =>
      this.#decided(stand, () => limiter.consume(key(), { cost: 1 + upTo(2) })),
    );
  }

  #peek(): Promise<void> {
    const { limiter, stand } = among(this.limits.rates);
    return this.ledger.enter('peek', DEADLINE, () => this.#decided(stand, () => limiter.peek(key())));
  }

  #acquire(): Promise<void> {
    const { limiter, stand } = among(this.limits.rates);
    const timeout = upTo(400);
    return this.ledger.enter('acquire', timeout + QUESTIONS * DEADLINE, () =>
      this.#waiting(stand, async (signal) => {
        const decision = await limiter.acquire(key(), { timeout, signal });
        if (upTo(3) === 0) await this.#done(limiter.refund(decision));
        return decision;
      }),
    );
  }

  /** Sometimes a caller does not release. */
  #hold(): Promise<void> {
    const { slots } = this.limits;
    const timeout = upTo(800);
    return this.ledger.enter('hold', timeout + 50 + QUESTIONS * DEADLINE, () =>
      this.#waiting('local', async (signal) => {
        const decision = await slots.acquire(key(), { timeout, signal, cost: 1 + upTo(1) });
        await sleep(upTo(50));
        if (upTo(20) > 0) await this.#done(slots.release(decision));
        return decision;
      }),
    );
  }

  #schedule(): Promise<void> {
    const { slots } = this.limits;
    const timeout = upTo(800);
    const fails = upTo(9) === 0;
    return this.ledger.enter('schedule', timeout + 50 + QUESTIONS * DEADLINE, async () => {
      let runs = 0;
      const task = async ({ decision }: { decision: Decision }) => {
        runs += 1;
        await sleep(upTo(50));
        if (fails) throw FAILED;
        return decision;
      };
      const came = await this.#waiting('local', async (signal) => {
        try {
          return await slots.schedule(key(), task, { timeout, signal });
        } catch (error) {
          if (error !== FAILED) throw error;
          return undefined;
        }
      });
      if (runs !== (came === 'refused' ? 0 : 1))
        this.ledger.wrong('schedule', `${came}, and ran ${runs} times`);
      return came;
    });
  }

  #reserve(): Promise<void> {
    const { limiter, stand } = among(this.limits.rates);
    return this.ledger.enter('reserve', QUESTIONS * DEADLINE, () =>
      this.#waiting(stand, async () => {
        const reservation = await limiter.reserve(key(), 1 + upTo(3));
        await this.#done(upTo(1) === 0 ? reservation.settle(upTo(6)) : reservation.cancel());
        return reservation.decision;
      }),
    );
  }

  #combine(): Promise<void> {
    const { combined } = this.limits;
    const keys = { perUser: key(), everybody: 'all', slots: key() };
    const timeout = upTo(400);
    return this.ledger.enter('combined', timeout + 2 * QUESTIONS * DEADLINE, () =>
      this.#waiting('local', async (signal) => {
        const decision = await combined.acquire(keys, { timeout, signal });
        await this.#done(combined.release(decision));
        return decision;
      }),
    );
  }

  #share(): Promise<void> {
    const { shared } = this.limits;
    const timeout = upTo(200);
    return this.ledger.enter('shared', timeout + QUESTIONS * DEADLINE, async () => {
      try {
        await shared.tryAcquire(1, timeout);
        return 'redis';
      } catch (error) {
        // A restarted server has lost the rate: the first caller that notices sets it again.
        if (isRateNotSetError(error)) await this.#done(shared.trySetRate({ rate: 20, interval: '300ms' }));
        else if (!isStoreUnavailableError(error) && !isLimiterClosedError(error)) throw error;
        return 'refused';
      }
    });
  }

  #change(): Promise<void> {
    const { limiter } = among(this.limits.rates);
    const change = among([
      () => limiter.penalty(key()),
      () => limiter.reward(key()),
      () => limiter.block(key(), 1 + upTo(100)),
      () => limiter.unblock(key()),
      () => limiter.reset(key()),
    ]);
    return this.ledger.enter('change', DEADLINE, () => this.#done(change()));
  }

  /** Has no rights, so the failure policy decides each call. */
  #guest(): Promise<void> {
    return this.ledger.enter('guest', DEADLINE, async () => {
      const { source, degraded } = await this.limits.guest.consume(key());
      if (source !== 'allow' || !degraded) throw new Error(`decided by ${source}`);
      return 'degraded';
    });
  }

  /** A signal of its own, which may be aborted later, or one that many calls share. */
  async #waiting(stand: Stand, wait: (signal: AbortSignal) => Promise<Decision | undefined>): Promise<Came> {
    const shares = upTo(1) === 0;
    const controller = shares ? among(this.#signals) : new AbortController();
    const timer = shares ? undefined : setTimeout(() => controller.abort(ABORTED), upTo(1_000));
    try {
      const decision = await wait(controller.signal);
      return decision === undefined ? 'redis' : cameOf(decision, stand, true);
    } catch (error) {
      const refused =
        error === ABORTED ||
        isRateLimitExceededError(error) ||
        isStoreUnavailableError(error) ||
        isLimiterClosedError(error);
      if (!refused) throw error;
      return 'refused';
    } finally {
      clearTimeout(timer);
      if (!shares && getEventListeners(controller.signal, 'abort').length > 0)
        this.ledger.wrong('signal', 'a listener is left');
    }
  }

  async #decided(stand: Stand, decide: () => Promise<Decision>): Promise<Came> {
    try {
      return cameOf(await decide(), stand, false);
    } catch (error) {
      if (stand === 'thrown' && isStoreUnavailableError(error)) return 'refused';
      throw error;
    }
  }

  /** A call that changes stored state succeeds, or rejects. */
  async #done(work: Promise<unknown>): Promise<Came> {
    try {
      await work;
      return 'redis';
    } catch (error) {
      if (isStoreUnavailableError(error)) return 'refused';
      throw error;
    }
  }
}

/** @throws Error if the decision contradicts itself */
export function cameOf({ source, degraded, allowed }: Decision, stand: Stand, granted: boolean): Came {
  const due = stand === 'thrown' ? 'nobody' : stand;
  // This process caches a denial of Redis for a moment.
  const stores = allowed ? ['redis'] : ['redis', 'deny-cache'];
  if (degraded ? source !== due : !stores.includes(source)) {
    throw new Error(`decided by ${source}, degraded ${degraded}, where ${due} was to decide`);
  }
  if ((source === 'allow' && !allowed) || (source === 'deny' && allowed)) {
    throw new Error(`${source} said ${allowed}`);
  }
  if (granted && !allowed) throw new Error('granted what was denied');
  return degraded ? 'degraded' : 'redis';
}
