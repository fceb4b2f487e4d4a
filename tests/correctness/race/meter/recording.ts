import { RECORD_HEAD } from '../../../../packages/core/src/algorithms/hold/hold.js';
import type { Call } from '../../../../packages/core/src/call/call.js';
import { type Store, StoreUnavailableError } from '../../../../packages/core/src/index.js';
import { like } from '../../../support/like.js';

/** A call was sent. Moments are µs since 1970, by the clock of this machine. */
export interface Sent {
  readonly n: number;
  readonly operation: 'hold' | 'settle';
  /** The record's key and the owner: the identity of a hold. */
  readonly hold: string;
  /** Of a new hold: 1 for `keep`, 2 for `refund`; 0 later on. */
  readonly kind: number;
  /** Not later than the decision by the store's clock. */
  readonly sent: number;
  /** The budgets of the hold, as `axis key`. */
  readonly budgets: readonly string[];
  readonly amounts: readonly number[];
}

/** The store has decided it. */
export interface Decided {
  readonly n: number;
  readonly now: number;
  readonly allowed: boolean;
  /** The amounts of the record after the call. */
  readonly amounts: readonly number[];
}

export type Entry = Sent | Decided;

/** Clocks of processes on one machine differ by about a millisecond. µs. */
const TREMBLE = 3_000;

const machineTime = (): number => Date.now() * 1000;

/**
 * A store that writes a line before each call of a hold and a line after each decision.
 * @param loses is the reply lost after the decision?
 * @param now the clock of the store, µs. A store in memory does not follow the machine's clock, which may be set meanwhile
 */
export function recorded(
  store: Store,
  write: (line: Entry) => void,
  loses: () => boolean,
  now = machineTime,
): Store {
  let calls = 0;
  return like(store, {
    decide: async (call, caller) => {
      if (call.operation !== 'hold' && call.operation !== 'settle') return store.decide(call, caller);
      calls += 1;
      const n = calls;
      write({ n, ...sentOf(call, now()) });
      const answer = await store.decide(call, caller);
      const { now: decidedAt, allowed, parts } = answer;
      const amounts = parts[0]!.trace!.after?.slice(RECORD_HEAD) ?? [];
      write({ n, now: decidedAt, allowed, amounts });
      if (loses()) throw new StoreUnavailableError('the reply was lost');
      return answer;
    },
  });
}

export function sentOf({ operation, parts }: Call, now = machineTime()): Omit<Sent, 'n'> {
  const [record, ...others] = parts;
  const held = others.filter(({ limit }) => limit.rule.algorithm.tag === 'hd');
  return {
    operation: operation as Sent['operation'],
    hold: `${record!.limit.prefix}${record!.key} ${record!.at}`,
    kind: record!.cost,
    sent: now - TREMBLE,
    budgets: held.map(({ limit, key }) => `${limit.name} ${key}`),
    amounts: held.map(({ cost }) => cost),
  };
}
