import { deepStrictEqual } from 'node:assert';
import type { Parameters, Policy } from '../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../packages/core/src/algorithms/index.js';
import type { Answer, Call, Part } from '../../packages/core/src/call/call.js';
import { decide } from '../../packages/core/src/engine/decide.js';
import { type Entry, expiryOf } from '../../packages/core/src/engine/entry.js';
import { KeyState } from '../../packages/core/src/engine/key-state.js';
import { limitOf } from './limit-of.js';

export const START = 1_735_689_600_000_000;
export const ms = (value: number) => Math.round(value * 1000);
export const seconds = (value: number) => Math.round(value * 1_000_000);

type CallOptions = Partial<Pick<Call, 'operation' | 'wait'>> &
  Partial<Pick<Part, 'cost' | 'at' | 'booking'>> & { readonly override?: Parameters };

/** Keys with one policy each, called together at moments that the test chooses (µs after START), without a store. */
export class Timeline {
  readonly rules;
  entries: (Entry | undefined)[];

  constructor(...policies: Policy[]) {
    this.rules = policies.map(compilePolicy);
    this.entries = policies.map(() => undefined);
  }

  ask(
    micros: number,
    { operation = 'consume', wait = 0, cost = 1, at = 0, booking, override }: CallOptions = {},
  ): Answer {
    const now = START + micros;
    const parts = this.rules.map((rule, i) => ({ limit: limitOf(rule), key: String(i), cost, at, booking }));
    const overrides = override && parts.map(() => override);
    const call: Call = { operation, wait, parts, overrides };
    const open = (entries: readonly (Entry | undefined)[]) =>
      parts.map((part, i) => new KeyState(part, entries[i], now));
    // A store drops an expired entry, so the algorithm must not need it any more.
    const live = this.entries.map((entry) =>
      entry !== undefined && expiryOf(entry) > now ? entry : undefined,
    );
    const keyStates = open(this.entries);
    const answer = decide(call, keyStates);
    // Not `expect`, which is slow: random tests make millions of calls, and some of them run without Jest.
    deepStrictEqual(decide(call, open(live)), answer);
    this.entries = keyStates.map((keyState, i) =>
      keyState.keeps(operation) ? keyState.entry() : this.entries[i],
    );
    return answer;
  }

  consume(micros: number, cost = 1): boolean {
    return this.ask(micros, { cost }).allowed;
  }

  /** The wait of a booked `acquire`; undefined if it is denied. */
  book(micros: number, cost = 1, wait = seconds(3600)): number | undefined {
    const answer = this.ask(micros, { operation: 'acquire', cost, wait });
    return answer.allowed ? answer.wait : undefined;
  }
}
