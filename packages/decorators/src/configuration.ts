import { describe } from '@sluice/core/http';
import { sharedByCopies } from './shared.js';
import { Sluice, type SluiceOptions } from './sluice.js';

/** Under this name a class (static property) or an object carries a configuration of its own, made by `createSluice`. */
export const SLUICE: unique symbol = Symbol.for('sluice.configuration');

interface Configurations {
  /** The configuration of all classes without their own. */
  current: Sluice | undefined;
  /** The current configuration and those it replaced, until `closeSluice`. */
  readonly open: Set<Sluice>;
}

const shared = sharedByCopies<Configurations>('configurations', () => ({
  current: undefined,
  open: new Set(),
}));

/**
 * Sets where all decorated methods keep their counts and how they know users and addresses. Call it once at start, before
 * the first call of a decorated method; without it, all share one memory store. A later call replaces the configuration
 * for calls that come after it; calls that wait end under the one they began with.
 * @throws RangeError, TypeError naming the option that is wrong. Does no I/O.
 */
export function configureSluice(options: SluiceOptions = {}): void {
  use(new Sluice('configureSluice', options));
}

/**
 * A configuration for one class or object, which carries it under `SLUICE`. It is yours to close.
 * @throws RangeError, TypeError naming the option that is wrong. Does no I/O.
 */
export function createSluice(options: SluiceOptions = {}): Sluice {
  return new Sluice('createSluice', options);
}

/**
 * For shutdown: ends all waits under every configuration that `configureSluice` set, and closes our own memory store; a
 * store that you gave stays yours to close. Decorated methods then reject with a `LimiterClosedError`, rather than count
 * in a store that nobody asked for, until `configureSluice` is called again.
 */
export async function closeSluice(): Promise<void> {
  const closing = [currentSluice(), ...shared.open];
  shared.open.clear();
  await Promise.all(closing.map((sluice) => sluice.close()));
}

/**
 * The configuration for a call: the object's own, else its class's, else the class's that defines the method, else the common one.
 * @throws TypeError when what one of them carries is no configuration
 */
export function sluiceOf(self: unknown, definingClass: unknown): Sluice {
  const carried =
    carriedBy(self) ?? carriedBy((self as object | undefined)?.constructor) ?? carriedBy(definingClass);
  return carried ?? currentSluice();
}

function carriedBy(holder: unknown): Sluice | undefined {
  const sluice = (holder as { [SLUICE]?: Sluice } | null | undefined)?.[SLUICE];
  // Not instanceof: it may come from the other copy of this package, ESM beside CJS.
  if (sluice !== undefined && typeof sluice?.limiter !== 'function') {
    throw new TypeError(`[SLUICE] must hold createSluice({ … }), not ${describe(sluice)}`);
  }
  return sluice;
}

function currentSluice(): Sluice {
  return shared.current ?? use(new Sluice('configureSluice', {}));
}

function use(sluice: Sluice): Sluice {
  shared.current = sluice;
  shared.open.add(sluice);
  return sluice;
}
