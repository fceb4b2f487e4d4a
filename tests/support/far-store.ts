import {
  type Answer,
  type Call,
  ManualClock,
  memoryStore,
  type Operation,
  type Store,
  StoreUnavailableError,
} from '../../packages/core/src/index.js';

/** What a store is asked: an operation of a call, or a rate. */
type Question = Operation | 'rate';

export type FarStore = ReturnType<typeof farStore>;

/**
 * A store in memory that looks like a remote one: it tells what it was asked, can be out, and can take its time.
 * @param parts what is otherwise; with `health` limiters notice when it is out
 */
export function farStore(parts: Partial<Store> = {}) {
  const clock = new ManualClock();
  const memory = memoryStore({ clock });
  const calls: Call[] = [];
  const questions: Question[] = [];
  let failure: Error | undefined;
  let refused: readonly Question[] = [];
  let gate: Promise<void> | undefined;

  const answer = async <T>(question: Question, give: () => T | Promise<T>): Promise<T> => {
    questions.push(question);
    if (failure !== undefined) throw failure;
    if (refused.includes(question)) throw gone();
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
    /** What it keeps, asked by the way. */
    memory,
    /** What it was asked, also while it was out. */
    calls,
    questions,
    /** What `work` gives, and what the store was asked meanwhile. */
    asks: async <T>(work: () => Promise<T>): Promise<[T, Operation[]]> => {
      calls.length = 0;
      return [await work(), calls.map(({ operation }) => operation)];
    },
    /** From now on it fails, whatever it is asked. */
    fail: (error: Error = gone()) => {
      failure = error;
    },
    /** From now on it fails when it is asked for one of these. */
    refuse: (...which: Question[]) => {
      refused = which;
    },
    /** It does not fail any more. */
    mend: () => {
      failure = undefined;
      refused = [];
    },
    /** From now on it decides, and its answers are under way until the function that this returns is called. */
    hold: () => {
      let open = () => {};
      gate = new Promise((resolve) => {
        open = resolve;
      });
      return open;
    },
  };
}

const gone = () => new StoreUnavailableError('gone', { reason: 'READONLY' });
