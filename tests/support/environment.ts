import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/** In the process of the test files, which all use them. */
const used = new Set<AsyncLocalStorage<unknown>>();

for (const name of ['run', 'enterWith'] as const) {
  const original = AsyncLocalStorage.prototype[name] as (...args: unknown[]) => unknown;
  Object.defineProperty(AsyncLocalStorage.prototype, name, {
    value(this: AsyncLocalStorage<unknown>, ...args: unknown[]) {
      used.add(this);
      return Reflect.apply(original, this, args);
    },
    writable: true,
    configurable: true,
  });
}

/**
 * Ends the storages of a test file with it. Node.js below 24 copies the value of every `AsyncLocalStorage` that was ever used to each new
 * promise: after a hundred test files that takes a tenth of the time.
 */
export default class Environment extends TestEnvironment {
  override async teardown(): Promise<void> {
    for (const storage of used) storage.disable();
    used.clear();
    await super.teardown();
  }
}
