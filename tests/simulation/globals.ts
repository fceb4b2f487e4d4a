import * as timing from 'node:perf_hooks';
import realProcess from 'node:process';

/** Where the code of a process gets its time and chance. Moments are µs of the virtual time. */
export interface Surroundings {
  readonly now: number;
  /** From 0 to less than 1. */
  random(): number;
  /** Runs `work` in `ms`. @returns a function that cancels it */
  after(ms: number, work: () => void, timer: Timer): () => void;
  /** Runs `work` in the next tick of the event loop. */
  nextTurn(work: () => void): void;
}

/** ms since 1970 at which virtual time begins. */
export const EPOCH = 1_735_689_600_000;

/** A timer of a simulated process. */
export class Timer {
  referenced = true;
  cancel = (): void => {};

  ref(): this {
    this.referenced = true;
    return this;
  }

  unref(): this {
    this.referenced = false;
    return this;
  }
}

/** A decision that a caller drops is garbage collected when a run says so, and not when the engine does. */
class StrongRef<T> {
  constructor(readonly target: T) {}

  deref(): T {
    return this.target;
  }
}

/** The globals by which the code of a process notices time and chance. @param at its surroundings, which change with each run */
export function globalsOf(at: () => Surroundings) {
  const setTimeout = (work: () => void, ms = 1) => {
    const timer = new Timer();
    timer.cancel = at().after(Math.max(1, ms), work, timer);
    return timer;
  };
  const clearTimeout = (timer?: Timer) => timer?.cancel();
  const setInterval = (work: () => void, ms: number) => {
    const timer = new Timer();
    const next = () => {
      timer.cancel = at().after(ms, run, timer);
    };
    const run = () => {
      next();
      work();
    };
    next();
    return timer;
  };
  const setImmediate = (work: () => void) => at().nextTurn(work);
  const performance = { now: () => at().now / 1000, timeOrigin: EPOCH };
  const hrtime = () => [Math.floor(at().now / 1e6), (at().now % 1e6) * 1000];
  const process = Object.create(realProcess, {
    hrtime: { value: hrtime },
    emitWarning: { value: () => {} },
  });
  /** Owners and ids of holds. */
  const crypto = {
    getRandomValues: (numbers: Uint32Array) => numbers.map(() => Math.floor(at().random() * 2 ** 32)),
  };
  const math = Object.create(Math, { random: { value: () => at().random() } });
  const own = {
    ...{ setTimeout, clearTimeout, setInterval, clearInterval: clearTimeout, setImmediate },
    ...{ performance, process, crypto, Math: math, WeakRef: StrongRef },
  };
  const modules: Record<string, unknown> = {
    'node:perf_hooks': { ...timing, performance },
    'node:process': process,
  };
  return {
    globals: { ...own, globalThis: Object.create(global, Object.getOwnPropertyDescriptors(own)) },
    modules,
  };
}
