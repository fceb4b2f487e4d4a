/**
 * A copy that stands by itself. A key put together by concatenation or cut out of a longer text would keep its pieces or the
 * whole text alive for as long as it is remembered; what `detach` gives is a slice and the text that it is of, which are two objects.
 * Storage keys are ASCII.
 */
export const detached = (key: string): string => Buffer.from(key, 'latin1').toString('latin1');
