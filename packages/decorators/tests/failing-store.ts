import { memoryStore, type Store, StoreUnavailableError, storageKey } from '@sluice/core';

/** A memory store that records its operations, and throws for those that match `fails`: operation, space, storage keys. */
export function failingStore(
  fails: RegExp,
  memory: Store = memoryStore(),
): Store & { readonly operations: string[] } {
  const operations: string[] = [];
  return {
    name: 'failing',
    remote: false,
    clock: memory.clock,
    operations,
    async decide(call) {
      const operation = `${call.operation} ${call.parts.map(storageKey).join(' ')}`;
      operations.push(operation);
      if (fails.test(operation)) throw new StoreUnavailableError('out');
      return memory.decide(call);
    },
    close: () => memory.close(),
  };
}
