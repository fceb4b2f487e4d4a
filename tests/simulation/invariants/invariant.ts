import type { Call } from '../../../packages/core/src/call/call.js';
import type { Calls, UserCall } from '../calls.js';
import type { Outcome } from '../instance.js';
import type { Kept, KeptTurn } from '../server.js';
import type { Member, Settings, World } from '../world.js';

/** What an invariant may look at. */
export interface Evidence {
  readonly world: World;
  readonly calls: Calls;
  readonly settings: readonly Settings[];
  /** The promise is broken. @param about the limit and the key, as in the story; undefined: all */
  broken(how: string, about?: string): void;
}

/** A promise of the documentation. Each method is called when something has happened. */
export interface Invariant {
  /** A turn is about to be kept. */
  keeping?(turn: KeptTurn): void;
  /** The server has kept a decision. */
  kept?(kept: Kept): void;
  /** A call of a pipeline begins. */
  begun?(call: Call): void;
  /** A call of a pipeline has ended. */
  settled?(member: Member, call: Call, outcome: Outcome, again: boolean): void;
  /** A caller has an answer. */
  ended?(call: UserCall): void;
  /** All calls have ended, and the faults are over. */
  calm?(): void;
  /** All limiters and stores were closed. */
  closed?(): void;
}

export type InvariantOf = (evidence: Evidence) => Invariant;
