import type { Decision } from '../decision.js';
import type { LimiterKey } from '../keys/key-part.js';
import { checkOptions, describe } from '../options.js';
import { type AcquireOptions, waitOptions } from './call-options.js';

export interface TaskContext {
  readonly decision: Decision;
  /** Aborted if a lease of the task is lost: another task may run by now. */
  readonly signal: AbortSignal;
}

export type ScheduledTask<T> = (context: TaskContext) => T | Promise<T>;

export interface WrapOptions<Args extends readonly unknown[]> extends AcquireOptions {
  /** The key, or a function that returns it from the arguments; default: all calls share one key. */
  readonly key?: LimiterKey | ((...args: Args) => LimiterKey);
}

export interface Scheduled<Key> {
  acquire(key: Key, options: AcquireOptions): Promise<Decision>;
  release(decision: Decision): Promise<void>;
  lost(decision: Decision): AbortSignal | undefined;
}

const NEVER_LOST = new AbortController().signal;

export async function schedule<Key, T>(
  limiter: Scheduled<Key>,
  key: Key,
  task: ScheduledTask<T>,
  options: AcquireOptions,
): Promise<T> {
  if (typeof task !== 'function')
    throw new TypeError(`schedule: the task must be a function, not ${describe(task)}`);
  const decision = await limiter.acquire(key, options);
  try {
    return await task({ decision, signal: limiter.lost(decision) ?? NEVER_LOST });
  } finally {
    // A store that is out does not change the task's result: the lease expires.
    await limiter.release(decision).catch(() => {});
  }
}

export function wrap<This, Args extends unknown[], T>(
  limiter: Scheduled<LimiterKey>,
  name: string,
  task: (this: This, ...args: Args) => T | Promise<T>,
  options: WrapOptions<Args>,
): (this: This, ...args: Args) => Promise<T> {
  checkOptions('wrap', options, ['key', 'cost', 'timeout', 'signal']);
  if (typeof task !== 'function')
    throw new TypeError(`wrap: the task must be a function, not ${describe(task)}`);
  const { key = name, ...acquiring } = options;
  waitOptions('wrap', acquiring);
  const keyOf = typeof key === 'function' ? key : () => key;
  const wrapped = async function (this: This, ...args: Args): Promise<T> {
    return schedule(limiter, keyOf(...args), () => task.apply(this, args), acquiring);
  };
  return Object.defineProperty(wrapped, 'name', { value: task.name, configurable: true });
}
