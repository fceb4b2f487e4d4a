// Limits per week that no key of the bench reaches.

/** For one hot key. A bucket of this size is full again after a millisecond, and then its key expires. */
export const NEVER_REACHED = 1_000_000_000;
/** For one of many keys: after each permit a key lives for at least a minute. */
export const ENOUGH = 10_000;
