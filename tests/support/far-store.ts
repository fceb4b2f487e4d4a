import {
  type Answer,
  type Call,
  ManualClock,
  memoryStore,
  type Operation,
  type Store,
  StoreUnavailableError,
} from '../../packages/core/src/index.js';

/** A request to a store: the operation of a call, or a rate. */
type Question = Operation | 'rate';

export type FarStore = ReturnType<typeof farStore>;

/**
 * A memory store that acts as a remote one: it records requests, can be out, and can delay answers.
 * @param parts overrides of the store; with `health` limiters notice when it is out
 */
export function farStore(parts: Partial<Store> = {}) {
  const clock = new ManualClock();
  const memory = memoryStore({ clock });
  const calls: Call[] = [];
  const operations: Question[] = [];
  let failure: Error | undefined;
  let refused: readonly Question[] = [];
  let gate: Promise<void> | undefined;

  const answer = async <T>(question: Question, give: () => T | Promise<T>): Promise<T> => {
    operations.push(question);
    if (failure !== undefined) throw failure;
    if (refused.includes(question)) throw readOnly();
    const given = give();
    if (gate !== undefined) await gate;
    return given;
  };
  const store: Store = {
    name: 'far',
    remote: true,
    slotted: false,
    clock,
    decide: (call): Promise<Answer> => {
      calls.push(call);
      return answer(call.operation, () => memory.decide(call));
    },
    listen: (key, granted) => memory.listen(key, granted),
    rate: (change) => answer('rate', () => memory.rate(change)),
    close: () => memory.close(),
    ...parts,
  };

  return {
    clock,
    store,
    /** The store behind it. */
    memory,
    /** All requests, including those while it was out. */
    calls,
    operations,
    /** The result of `work`, and the requests meanwhile. */
    withOperations: async <T>(work: () => Promise<T>): Promise<[T, Operation[]]> => {
      calls.length = 0;
      return [await work(), calls.map(({ operation }) => operation)];
    },
    /** From now on all requests fail. */
    fail: (error: Error = readOnly()) => {
      failure = error;
    },
    /** From now on these requests fail. */
    refuse: (...which: Question[]) => {
      refused = which;
    },
    /** Ends the failures. */
    mend: () => {
      failure = undefined;
      refused = [];
    },
    /** From now on it decides, but holds its answers back until the returned function is called. */
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
  };
}

const readOnly = () => new StoreUnavailableError('gone', { reason: 'READONLY' });
