import type { Cost } from '@sluice/core';
import { isLimiterClosedError, isStoreUnavailableError } from '@sluice/core';
import { onAbort, Stop } from '@sluice/core/internal';
import type { Beliefs, Snapshot } from '../budget/beliefs.js';
import type { Budget, Taken } from '../budget/budget.js';
import { UpstreamPausedError } from '../errors.js';
import type { Pause } from '../pauses/pause.js';
import type { PauseWaits } from '../pauses/pause-waits.js';
import type { Pauses } from '../pauses/pauses.js';
import type { RampPermit, Ramps } from '../pauses/ramps.js';
import type { Circuit, CircuitPass } from './circuit.js';
import { scopeOfKey, UPSTREAM } from './scopes.js';
import type { WaitLimits } from './time.js';

/** A call that wants to be sent. */
export interface WaitingCall extends WaitLimits {
  /** The account, as `accountKey` returns it. */
  readonly account: string;
  /** Under which it can be paused, the widest first. */
  readonly keys: readonly string[];
  readonly cost: Cost;
  readonly priority: number;
}

/** The right to send one call now. */
export interface Ticket {
  readonly taken: Taken | undefined;
  readonly snapshot: Snapshot | undefined;
  readonly ramps: readonly RampPermit[];
  readonly pass: CircuitPass;
}

/** The parts that let calls pass. */
export interface AdmissionParts {
  readonly name: string;
  readonly pauses: Pauses;
  readonly waits: PauseWaits;
  readonly ramps: Ramps;
  readonly circuit: Circuit;
  readonly budget: Budget | undefined;
  readonly beliefs: Beliefs | undefined;
}

/**
 * Waits for work that only other calls need. While a store is out, permits that it holds come back when their leases end; after `close`
 * nothing is learned.
 */
export async function unlessOut(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isStoreUnavailableError(error) && !isLimiterClosedError(error)) throw error;
  }
}

/** What a waiting call holds so far. */
class Holdings {
  readonly ramps: RampPermit[] = [];
  taken: Taken | undefined;
  pass: CircuitPass | undefined;

  constructor(
    readonly parts: AdmissionParts,
    readonly call: WaitingCall,
  ) {}

  async giveBackPermits(): Promise<void> {
    const { taken } = this;
    this.taken = undefined;
    if (taken !== undefined) await unlessOut(this.parts.budget!.giveBack(taken));
  }

  async leaveRamps(): Promise<void> {
    await leave(this.parts, this.ramps.splice(0));
  }

  async giveBackAll(): Promise<void> {
    if (this.pass !== undefined) this.parts.circuit.leave(this.pass, 'other');
    this.pass = undefined;
    await this.giveBackPermits();
    await this.leaveRamps();
  }

  isOnRamp(key: string): boolean {
    return this.ramps.some((permit) => permit.key === key);
  }

  /** Gives up ramps of narrower scopes than a key: calls that take them in one order never wait for each other. */
  async leaveNarrowerThan(key: string): Promise<void> {
    const { keys } = this.call;
    const order = keys.indexOf(key);
    if (this.ramps.some((permit) => keys.indexOf(permit.key) > order)) await this.leaveRamps();
  }

  ticket(): Ticket {
    const { parts, call, taken, ramps, pass } = this;
    const snapshot = taken && parts.beliefs!.took(call.account, taken.decision);
    return { taken, snapshot, ramps, pass: parts.circuit.sent(pass!) };
  }
}

async function leave({ ramps }: AdmissionParts, permits: readonly RampPermit[]): Promise<void> {
  for (const permit of permits) await unlessOut(ramps.leave(permit));
}

/** Holds a call until nothing that concerns it is paused, and its permits are there. */
export class Admission {
  constructor(readonly parts: AdmissionParts) {}

  /** @throws UpstreamPausedError, RateLimitExceededError, the signal's reason, LimiterClosedError; of the store StoreConfigurationError */
  async admit(call: WaitingCall): Promise<Ticket> {
    const holdings = new Holdings(this.parts, call);
    try {
      while (!(await this.#advance(call, holdings)));
      return holdings.ticket();
    } catch (error) {
      await holdings.giveBackAll();
      throw error;
    }
  }

  /** One step of a call. @returns whether it may be sent now */
  async #advance(call: WaitingCall, holdings: Holdings): Promise<boolean> {
    const { pauses, budget, waits, circuit } = this.parts;
    call.signal?.throwIfAborted();
    pauses.checkOpen();
    let paused = pauses.remembered(call.keys);
    let recovering: string | undefined;
    if (paused === undefined) {
      holdings.pass ??= await circuit.enter(call, () => this.#recovering(UPSTREAM, call));
      if (holdings.pass === undefined) return false;
      if (budget !== undefined && holdings.taken === undefined)
        holdings.taken = await this.#take(budget, call);
      // Last: between this look and the call nothing waits.
      const state = await pauses.look(call.keys);
      paused = state.paused;
      recovering = state.recovering.find((key) => !holdings.isOnRamp(key));
    }
    if (paused !== undefined || holdings.pass === undefined || !circuit.isValid(holdings.pass)) {
      await holdings.giveBackAll();
      if (paused !== undefined) await waits.wait(paused, call, (longer) => this.paused(longer));
      return false;
    }
    if (recovering === undefined) {
      call.signal?.throwIfAborted();
      return true;
    }
    await this.#enterRamp(recovering, call, holdings);
    return false;
  }

  #take(budget: Budget, call: WaitingCall): Promise<Taken> {
    const { account, cost, priority } = call;
    return this.#watching(call, (limits) => budget.take(account, cost, priority, limits));
  }

  /**
   * Waits for something else than the end of a pause: for permits, or for other calls of a ramp, which does not move while its key is paused.
   * If a pause begins meanwhile that outlasts the call, its place comes back at once: another call may have it.
   */
  async #watching<T>(
    { keys, deadline, signal: given }: WaitingCall,
    wait: (limits: WaitLimits) => Promise<T>,
  ): Promise<T> {
    const { watch } = this.parts.pauses;
    const watching = watch.enter(keys, deadline);
    const either = given && new Stop(given);
    const ignore = either && onAbort(watching.signal, () => either.abort(watching.signal.reason));
    try {
      return await wait({ deadline, signal: either?.signal ?? watching.signal });
    } catch (error) {
      const { pause, signal } = watching;
      throw pause !== undefined && error === signal.reason ? this.paused(pause) : error;
    } finally {
      watch.leave(watching);
      ignore?.();
      either?.end();
    }
  }

  async #enterRamp(key: string, call: WaitingCall, holdings: Holdings): Promise<void> {
    const { ramps, budget } = this.parts;
    await holdings.leaveNarrowerThan(key);
    // A call whose permits are due goes before those that wait: the others' are not.
    let permit = await ramps.tryEnter(key);
    if (permit === undefined) {
      await holdings.giveBackPermits();
      permit = await this.#watching(call, (limits) =>
        ramps.enter(key, limits, () => this.#recovering(key, call)),
      );
    }
    if (permit === undefined) return;
    holdings.ramps.push(permit);
    if (budget === undefined || holdings.taken !== undefined) return;
    // A ramp is not held while a call waits for permits.
    holdings.taken = await budget.takeNow(call.account, call.cost);
    if (holdings.taken === undefined) await holdings.leaveRamps();
  }

  /** Gives permits of ramps back. */
  leave(permits: readonly RampPermit[]): Promise<void> {
    return leave(this.parts, permits);
  }

  /** The error of a call that cannot wait for the end of a pause. */
  paused({ key, until, reason }: Pause): UpstreamPausedError {
    const { name, pauses } = this.parts;
    return new UpstreamPausedError(name, until, scopeOfKey(key), reason, Math.max(0, until - pauses.now));
  }

  #recovering(key: string, { deadline }: WaitLimits): UpstreamPausedError {
    const reason = 'the upstream recovers from a pause, and calls before this one have not succeeded yet';
    return new UpstreamPausedError(this.parts.name, deadline, scopeOfKey(key), reason, 0);
  }
}
