import type { BaseLimiter, LimiterKey } from '@sluice/core';
import { checkFunction, checkOptions, describe, isRecord } from '@sluice/core/internal';

/** How long a list is: what `@listSize` says. */
export interface ListSize {
  /** The number of items if no slicing argument says it. */
  readonly assumedSize?: number | undefined;
  /** The arguments that say the number of items. The largest counts; of an argument that is a list its length. */
  readonly slicingArguments?: readonly string[] | undefined;
  /** The lists below this field that have its size, such as `edges` and `nodes`. Without them the field itself is the list. */
  readonly sizedFields?: readonly string[] | undefined;
  /** Refuse an operation that passes none or several of the slicing arguments. Default: true, as the specification says. */
  readonly requireOneSlicingArgument?: boolean | undefined;
}

/** The cost of each call of a resolver: a number, or a function of the field's arguments. */
export type Weight = number | ((args: Readonly<Record<string, unknown>>) => number);

type PointLimiter = Pick<BaseLimiter<LimiterKey>, 'reserve'>;

/** The options of `costLimit`. `Context` is the context of the server's operations. */
export interface CostLimitOptions<Context> {
  /** What counts the points: a limiter, or a function that returns one, for plans. It stays yours to close. */
  readonly limiter: PointLimiter | ((context: Context) => PointLimiter);
  /** Whose points an operation takes. */
  readonly key: (context: Context) => LimiterKey | Promise<LimiterKey>;
  /** Costs by `Type.field`, and numbers by `Type`. They replace `@cost`. */
  readonly costs?: Readonly<Record<string, Weight>> | undefined;
  /** Sizes of lists by `Type.field`. They replace `@listSize`. */
  readonly listSizes?: Readonly<Record<string, ListSize>> | undefined;
  /** What nothing else says. Default: `{ object: 1, leaf: 0.01, mutation: 10, listSize: 10 }`. */
  readonly defaults?: CostDefaults | undefined;
}

/** The costs and sizes that nothing else says. */
export interface CostDefaults {
  /** Of each object, and of a call of each root field that returns none. */
  readonly object?: number;
  /** Of each scalar and each value of an enum. */
  readonly leaf?: number;
  /** Of a call of each root field of a mutation. */
  readonly mutation?: number;
  /** Items in a list. */
  readonly listSize?: number;
}

const DEFAULTS = { object: 1, leaf: 0.01, mutation: 10, listSize: 10 };

/** @throws TypeError, RangeError naming the invalid option */
export function checkCostLimitOptions<Context>(options: CostLimitOptions<Context>) {
  checkOptions('costLimit', options, ['limiter', 'key', 'costs', 'listSizes', 'defaults']);
  const { limiter, key, costs = {}, listSizes = {}, defaults = {} } = options;
  if (typeof limiter !== 'function' && typeof limiter?.reserve !== 'function') {
    const wanted = 'a limiter, such as new RateLimiter({ … }), or a function that returns one';
    throw new TypeError(`costLimit: limiter must be ${wanted}, not ${describe(limiter)}`);
  }
  if (key === undefined) throw new TypeError('costLimit: pass key, such as (context) => context.userId');
  checkFunction('costLimit: key', key);
  checkOptions('costLimit: defaults', defaults, Object.keys(DEFAULTS));
  for (const [name, value] of Object.entries(defaults)) checkNumber(`costLimit: defaults.${name}`, value);
  for (const [name, value] of Object.entries({ costs, listSizes })) {
    if (!isRecord(value))
      throw new TypeError(`costLimit: ${name} must be an object by 'Type.field', not ${describe(value)}`);
  }
  for (const [name, weight] of Object.entries(costs))
    if (typeof weight !== 'function') checkNumber(`costLimit: costs['${name}']`, weight);
  for (const [name, size] of Object.entries(listSizes))
    checkListSize(`costLimit: listSizes['${name}']`, size);
  return {
    ...{ key, limiterOf: typeof limiter === 'function' ? limiter : () => limiter },
    ...{ costs: new Map(Object.entries(costs)), listSizes: new Map(Object.entries(listSizes)) },
    defaults: { ...DEFAULTS, ...defaults },
  };
}

/** @throws RangeError naming the value */
export function checkNumber(what: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= Number.MAX_SAFE_INTEGER) return value;
  throw new RangeError(
    `${what} must be a number from 0 to ${Number.MAX_SAFE_INTEGER}, not ${describe(value)}`,
  );
}

/** @throws TypeError, RangeError naming the value */
export function checkListSize(where: string, size: ListSize): ListSize {
  const LISTS = ['slicingArguments', 'sizedFields'] as const;
  checkOptions(where, size, ['assumedSize', 'requireOneSlicingArgument', ...LISTS]);
  if (size.assumedSize != null) checkNumber(`${where}: assumedSize`, size.assumedSize);
  for (const name of LISTS) {
    const value: unknown = size[name] ?? [];
    if (!Array.isArray(value) || !value.every((one) => typeof one === 'string'))
      throw new TypeError(`${where}: ${name} must be a list of names, not ${describe(value)}`);
  }
  return size;
}
