/** Node's own timers. With the fake timers of a test, deadlines, circuits and connections would stand still. */
export const { setTimeout, setImmediate, clearTimeout } = globalThis;
