import {
  type Answer,
  type Call,
  ManualClock,
  memoryStore,
  type Operation,
  type Store,
} from '../../packages/core/src/index.js';

/** A store in memory that looks like a remote one, and what it was asked. */
export function farStore() {
  const clock = new ManualClock();
  const memory = memoryStore({ clock });
  const calls: Call[] = [];
  const store: Store = {
    name: 'far',
    remote: true,
    slotted: false,
    clock,
    decide: async (call: Call): Promise<Answer> => {
      calls.push(call);
      return memory.decide(call);
    },
    listen: (key, granted) => memory.listen(key, granted),
    rate: (change) => memory.rate(change),
    close: () => memory.close(),
  };
  /** What `work` gives, and what the store was asked meanwhile. */
  const asks = async <T>(work: () => Promise<T>): Promise<[T, Operation[]]> => {
    calls.length = 0;
    return [await work(), calls.map(({ operation }) => operation)];
  };
  return { clock, memory, store, calls, asks };
}
