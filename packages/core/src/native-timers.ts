/** Node's own timers. With the fake timers of a test, no deadline would end, and no answer, circuit or connection would come. */
export const { setTimeout, setImmediate, clearTimeout } = globalThis;
