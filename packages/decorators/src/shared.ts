import type { Sluice } from './sluice.js';
import type { Method, MethodLimit } from './wrap-method.js';

export interface Wrapped {
  readonly method: Method;
  readonly limit: MethodLimit;
}

interface Shared {
  /** The configuration of all classes that carry none of their own. */
  current: Sluice | undefined;
  /** Every configuration that `closeSluice` has yet to close: the current one and those it replaced. */
  readonly open: Set<Sluice>;
  /** From each of our wrappers to what it wraps. */
  readonly wrapped: WeakMap<Method, Wrapped>;
}

// One for the whole process: a program may load this package twice, as ESM and as CJS, and one call must configure both.
const slot = Symbol.for('sluice.decorators');
const holder = globalThis as { [slot]?: Shared };
holder[slot] ??= { current: undefined, open: new Set(), wrapped: new WeakMap() };

export const shared: Shared = holder[slot];
