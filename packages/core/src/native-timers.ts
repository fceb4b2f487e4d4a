/** The runtime's own timers. With the fake timers of a test, no deadline would end, and no answer, circuit or connection would come. */
export const { setTimeout, clearTimeout } = globalThis;
/** Edge runtimes have none. */
export const setImmediate: typeof globalThis.setImmediate =
  globalThis.setImmediate ?? ((callback: () => void) => setTimeout(callback));
