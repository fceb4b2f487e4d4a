import { memoryStore, type Store, StoreUnavailableError, storageKey } from '@sluice/core';

/** Memory that is out for what `fails` names: an operation, a space and a storage key. It remembers all that it was asked. */
export function failingStore(
  fails: RegExp,
  memory: Store = memoryStore(),
): Store & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    name: 'failing',
    remote: false,
    slotted: false,
    clock: memory.clock,
    asked,
    async decide(call) {
      const question = `${call.operation} ${call.parts.map(storageKey).join(' ')}`;
      asked.push(question);
      if (fails.test(question)) throw new StoreUnavailableError('out');
      return memory.decide(call);
    },
    listen: (key, granted) => memory.listen(key, granted),
    rate: (change) => memory.rate(change),
    close: () => memory.close(),
  };
}
