import type { Cost } from '@sluice/core';
import { isStoreUnavailableError } from '@sluice/core';
import type { Beliefs, Snapshot } from '../budget/beliefs.js';
import type { Budget, Taken } from '../budget/budget.js';
import type { OthersUse } from '../budget/others-use.js';
import { UpstreamPausedError } from '../errors.js';
import type { Pause } from '../pauses/pause.js';
import type { PauseWaits } from '../pauses/pause-waits.js';
import type { Pauses } from '../pauses/pauses.js';
import type { RampPermit, Ramps } from '../pauses/ramps.js';
import type { Circuit, CircuitPass } from './circuit.js';
import { accountKey, scopeOfKey, UPSTREAM } from './scopes.js';
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
  readonly othersUse: OthersUse | undefined;
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
    const { pauses, budget, beliefs, ramps, circuit } = this.parts;
    let held: RampPermit[] = [];
    let taken: Taken | undefined;
    let pass: CircuitPass | undefined;
    const giveBack = async () => {
      const refunded = taken;
      taken = undefined;
      if (refunded !== undefined) await unlessOut(budget!.giveBack(refunded));
    };
    const leaveCircuit = () => {
      if (pass !== undefined) circuit.leave(pass, 'other');
      pass = undefined;
    };
    const leaveRamps = async () => {
      const permits = held;
      held = [];
      await this.leave(permits);
    };
    try {
      for (;;) {
        call.signal?.throwIfAborted();
        let blocking = pauses.remembered(call.keys);
        let next: string | undefined;
        if (blocking === undefined) {
          pass ??= await circuit.enter(call, () => this.#recovering(UPSTREAM, call));
          taken ??= await budget?.take(accountKey(call.account), call.cost, call.priority, call);
          // Last: between this look and the call nothing waits.
          const { paused, recovering } = await pauses.look(call.keys);
          blocking = paused;
          next = recovering.find((key) => !held.some((permit) => permit.key === key));
        }
        if (blocking !== undefined || pass === undefined || !circuit.isValid(pass)) {
          leaveCircuit();
          await giveBack();
          await leaveRamps();
          if (blocking !== undefined)
            await this.parts.waits.wait(blocking, call, (longer) => this.paused(longer));
          continue;
        }
        if (next === undefined) {
          call.signal?.throwIfAborted();
          const snapshot = taken && beliefs!.took(accountKey(call.account), taken.decision);
          return { taken, snapshot, ramps: held, pass };
        }
        // Wider scopes first, so that no two calls wait for each other.
        const order = call.keys.indexOf(next);
        if (held.some(({ key }) => call.keys.indexOf(key) > order)) await leaveRamps();
        // A call whose permits are due goes before those that wait: the others' are not.
        let permit = await ramps.tryEnter(next);
        if (permit === undefined) {
          await giveBack();
          permit = await ramps.enter(next, call, () => this.#recovering(next, call));
        }
        if (permit === undefined) continue;
        held.push(permit);
        if (budget === undefined || taken !== undefined) continue;
        // A ramp is not held while a call waits for permits.
        taken = await budget.takeNow(accountKey(call.account), call.cost);
        if (taken === undefined) await leaveRamps();
      }
    } catch (error) {
      leaveCircuit();
      await giveBack();
      await leaveRamps();
      throw error;
    }
  }

  /** Gives permits of ramps back. */
  async leave(permits: readonly RampPermit[]): Promise<void> {
    for (const permit of permits) await unlessOut(this.parts.ramps.leave(permit));
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
