// Limits, in a week, that no key of the bench reaches.

/** For one hot key. A bucket of this size is full again after a millisecond, and then there is no key. */
export const NEVER_REACHED = 1_000_000_000;
/** For one of many keys: after each permit a key stays for a minute at least. */
export const ENOUGH = 10_000;
