import type { ExecutionContext } from '@nestjs/common';
import { memoryStore } from '@sluice/core';
import { checkFunction, checkOptions } from '@sluice/core/internal';
import { type SkippedLimits, skippedLimits } from '@sluice/decorators';
import { addSkippableName, RequestLimit, warnOfUnknownSkips } from '@sluice/http';
import { GUARD_OPTIONS, type RateLimitGuardOptions } from './options.js';
import type { Level } from './override-limit.js';
import { attachDecision } from './request.js';

export type GuardLimit = RequestLimit<[context: ExecutionContext]>;

/** A limit, and its variants for handlers that skip some of its `limits`. */
export class LimitInParts {
  readonly getRequestResponse: RateLimitGuardOptions['getRequestResponse'];
  readonly #where: string;
  readonly #options: RateLimitGuardOptions;
  readonly #made = new Map<string, GuardLimit>();
  readonly #ownStore: { close(): Promise<void> } | undefined;

  /** @throws RangeError, TypeError naming the invalid option */
  constructor(where: string, given: RateLimitGuardOptions) {
    checkOptions(where, given, GUARD_OPTIONS);
    const { getRequestResponse, ...options } = given;
    checkFunction(`${where}: getRequestResponse`, getRequestResponse);
    this.getRequestResponse = getRequestResponse;
    this.#where = where;
    this.#options = options;
    if (options.limits !== undefined && options.store === undefined) {
      // The variants must share their counts.
      const store = memoryStore();
      this.#ownStore = store;
      this.#options = { ...options, name: options.name ?? 'default', store };
    }
    this.#make('', this.#options);
    const name = nameOf(this.#options);
    addSkippableName(name);
    for (const part of Object.keys(options.limits ?? {})) {
      addSkippableName(part);
      addSkippableName(`${name}.${part}`);
    }
  }

  /** @returns undefined if the whole limit is skipped */
  without(skipped: SkippedLimits): GuardLimit | undefined {
    if (skipped === true) return undefined;
    if (skipped.length === 0) return this.#made.get('');
    warnOfUnknownSkips(skipped);
    const options = withoutParts(this.#options, skipped);
    if (options?.limits === undefined || options === this.#options) return options && this.#made.get('');
    const parts = Object.keys(options.limits).join();
    return this.#made.get(parts) ?? this.#make(parts, options);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#made.values()].map((limit) => limit.close()));
    await this.#ownStore?.close();
  }

  #make(parts: string, options: RateLimitGuardOptions): GuardLimit {
    const limit = new RequestLimit(this.#where, options, attachDecision);
    this.#made.set(parts, limit);
    return limit;
  }
}

/** All limits that these levels skip. */
export function skippedBy(levels: readonly Level[]): SkippedLimits {
  const names: string[] = [];
  for (const level of levels) {
    const skipped = skippedLimits(level);
    if (skipped === true) return true;
    names.push(...skipped);
  }
  return names;
}

const nameOf = ({ rules, limiter, name = 'default' }: RateLimitGuardOptions): string =>
  rules?.name ?? limiter?.name ?? name;

/** The options without these limits: the same object if none matches, undefined if none is left. */
function withoutParts(
  options: RateLimitGuardOptions,
  names: readonly string[],
): RateLimitGuardOptions | undefined {
  const name = nameOf(options);
  const parts = Object.keys(options.limits ?? {});
  // A name that the whole limit shares with one of its limits is the one limit's: skipping more would let clients pass unlimited.
  if (names.includes(name) && !parts.includes(name)) return undefined;
  const left = parts.filter((part) => !names.includes(part) && !names.includes(`${name}.${part}`));
  if (left.length === parts.length) return options;
  if (left.length === 0) return undefined;
  const { limits, cost } = options;
  return {
    ...options,
    limits: pick(limits!, left),
    ...(typeof cost === 'object' && { cost: pick(cost, left) }),
    ...(typeof cost === 'function' && {
      cost: async (context: ExecutionContext) => {
        const of = await cost(context);
        return typeof of === 'object' ? pick(of, left) : of;
      },
    }),
  };
}

const pick = <T>(from: Readonly<Record<string, T>>, names: readonly string[]): Record<string, T> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => names.includes(name)));
