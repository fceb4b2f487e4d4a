import type { Decision } from '../decision.js';
import type { Answer, Call } from '../engine/call.js';
import type { Asking } from '../pipeline/asking.js';

/** A call whose answer becomes a decision: one promise from the store to whoever asked. */
export class Deciding implements Asking {
  constructor(
    readonly call: Call,
    private readonly decide: (answer: Answer) => Decision,
    private readonly resolve: (decision: Decision) => void,
    private readonly reject: (error: unknown) => void,
  ) {}

  get abandoned(): boolean {
    return false;
  }

  get deadline(): undefined {
    return undefined;
  }

  answered(answer: Answer): void {
    let decision: Decision;
    try {
      decision = this.decide(answer);
    } catch (error) {
      this.reject(error);
      return;
    }
    this.resolve(decision);
  }

  failed(error: unknown): void {
    this.reject(error);
  }
}
