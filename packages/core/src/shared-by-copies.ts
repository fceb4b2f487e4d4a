/**
 * A value that all copies of this package in a process share, because a program may load it twice: as ESM and as CommonJS.
 * @param name unique among the packages of Sluice
 * @param make creates the value for the first copy
 */
export function sharedByCopies<T>(name: string, make: () => T): T {
  const slot = Symbol.for(`sluice.${name}`);
  const holder = globalThis as { [slot: symbol]: T | undefined };
  holder[slot] ??= make();
  return holder[slot];
}
