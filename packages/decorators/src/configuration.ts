import { describe, sharedByCopies } from '@sluice/core/internal';
import { Sluice, type SluiceOptions } from './sluice.js';

/** The property of a class (static) or an object that holds its own configuration, from `createSluice`. */
export const SLUICE: unique symbol = Symbol.for('sluice.configuration');

interface Configurations {
  /** The configuration of all classes without their own. */
  current: Sluice | undefined;
  /** The current configuration and those it replaced, until `closeSluice`. */
  readonly open: Set<Sluice>;
}

const shared = sharedByCopies<Configurations>('decorators.configurations', () => ({
  current: undefined,
  open: new Set(),
}));

/**
 * Sets the store of all decorated methods, and how they identify users and addresses. Call it once at start, before the first call of a
 * decorated method. Without it, all share one memory store. A later call replaces the configuration for later calls; waiting calls keep
 * theirs. Does no I/O.
 * @throws RangeError, TypeError naming the invalid option
 */
export function configureSluice(options: SluiceOptions = {}): void {
  use(new Sluice('configureSluice', options));
}

/**
 * Creates a configuration for one class or object, which holds it as its property `[SLUICE]`. Close it yourself. Does no I/O.
 * @throws RangeError, TypeError naming the invalid option
 */
export function createSluice(options: SluiceOptions = {}): Sluice {
  return new Sluice('createSluice', options);
}

/**
 * For shutdown: rejects all waiting calls under every configuration that `configureSluice` set, and closes the default memory store. Close a
 * store that you passed yourself. Decorated methods then reject with a `LimiterClosedError` until `configureSluice` is called again.
 */
export async function closeSluice(): Promise<void> {
  const closing = [currentSluice(), ...shared.open];
  shared.open.clear();
  await Promise.all(closing.map((sluice) => sluice.close()));
}

/**
 * The configuration for a call: of the object, otherwise of its class, otherwise of the class that defines the method, otherwise the common one.
 * @throws TypeError if `[SLUICE]` of one of them is not a configuration
 */
export function sluiceOf(self: unknown, definingClass: unknown): Sluice {
  const held = heldBy(self) ?? heldBy((self as object | undefined)?.constructor) ?? heldBy(definingClass);
  return held ?? currentSluice();
}

function heldBy(holder: unknown): Sluice | undefined {
  const sluice = (holder as { [SLUICE]?: Sluice } | null | undefined)?.[SLUICE];
  // Not instanceof: it may come from another copy of this package, ESM beside CJS.
  if (sluice !== undefined && typeof sluice?.limiter !== 'function') {
    throw new TypeError(`[SLUICE] must be a result of createSluice({ … }), not ${describe(sluice)}`);
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
