import type { Cost } from '@sluice/core';
import { isStoreUnavailableError } from '@sluice/core';
import type { Beliefs, Snapshot } from '../budget/beliefs.js';
import type { Budget, Taken } from '../budget/budget.js';
import { UpstreamPausedError } from '../errors.js';
import type { Pause } from '../pauses/pause.js';
import type { PauseWaits } from '../pauses/pause-waits.js';
import type { Pauses } from '../pauses/pauses.js';
import type { RampPermit, Ramps } from '../pauses/ramps.js';
import { accountKey, scopeOfKey } from './scopes.js';
import type { WaitLimits } from './time.js';

/** A call that wants to be sent. */
export interface WaitingCall extends WaitLimits {
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
}

/** The parts that let calls pass. */
export interface AdmissionParts {
  readonly name: string;
  readonly pauses: Pauses;
  readonly waits: PauseWaits;
  readonly ramps: Ramps;
  readonly budget: Budget | undefined;
  readonly beliefs: Beliefs | undefined;
}

/** While a store is out, permits that it holds come back when their leases end. */
export async function unlessOut(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!isStoreUnavailableError(error)) throw error;
  }
}

/** Holds a call until nothing that concerns it is paused, and its permits are there. */
export class Admission {
  constructor(readonly parts: AdmissionParts) {}

  /** @throws UpstreamPausedError, RateLimitExceededError, the signal's reason; of the store StoreConfigurationError */
  async admit(call: WaitingCall): Promise<Ticket> {
    const { pauses, budget, beliefs, ramps } = this.parts;
    let held: RampPermit[] = [];
    let taken: Taken | undefined;
    const leave = async () => {
      const [permits, refunded] = [held, taken];
      held = [];
      taken = undefined;
      if (refunded !== undefined) await unlessOut(budget!.giveBack(refunded));
      await this.leave(permits);
    };
    try {
      for (;;) {
        call.signal?.throwIfAborted();
        const remembered = pauses.remembered(call.keys);
        if (remembered !== undefined) {
          await leave();
          await this.#wait(remembered, call);
        }
        taken = await budget?.take(accountKey(call.account), call.cost, call.priority, call);
        // Last: between this look and the call nothing waits.
        const { paused, recovering } = await pauses.look(call.keys);
        if (paused !== undefined) {
          await leave();
          await this.#wait(paused, call);
          continue;
        }
        const next = recovering.find((key) => !held.some((permit) => permit.key === key));
        if (next === undefined) {
          call.signal?.throwIfAborted();
          const snapshot = taken && beliefs!.took(accountKey(call.account), taken.decision);
          return { taken, snapshot, ramps: held };
        }
        const kept = held;
        held = [];
        await leave();
        held = kept;
        // Wider scopes first, so that no two calls wait for each other.
        if (held.some(({ key }) => call.keys.indexOf(key) > call.keys.indexOf(next))) await leave();
        const permit = await ramps.enter(next, call, () => this.#recovering(next, call));
        if (permit !== undefined) held.push(permit);
      }
    } catch (error) {
      await leave();
      throw error;
    }
  }

  /** Gives permits of ramps back. */
  async leave(permits: readonly RampPermit[]): Promise<void> {
    for (const permit of permits) await unlessOut(this.parts.ramps.leave(permit));
  }

  #wait(pause: Pause, call: WaitLimits): Promise<void> {
    return this.parts.waits.wait(pause, call, (longer) => this.paused(longer));
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
