import type { Cost } from '@sluice/core';
import { checkFunction, checkInteger, checkOptions, describe } from '@sluice/core/internal';
import type { Amounts } from '../amounts.js';
import { Meter } from '../meter.js';
import type { Usage } from './reader.js';

export type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** A service with limits of its own: an `upstream` of @sluice/outgoing. */
export interface LimitedService {
  readonly fetch: Fetch;
  withCost<T>(
    cost: Cost | undefined,
    actual: Promise<Cost | undefined>,
    work: () => T,
    sent?: (isSent: boolean) => void,
  ): T;
}

/** Who pays for the calls of a model, and how much. */
export interface ModelOptions<Who, Axes extends string> {
  /** Whose budget pays. */
  readonly who: Who;
  /** The tokens of a text, by your tokenizer. Counts prompts before a call, and answers while they arrive. */
  readonly count: (text: string) => number;
  /** The amounts of a call: `({ input, output }) => ({ output, usd: 3 * input + 15 * output })`. */
  readonly amounts: (usage: Usage) => Amounts<Axes>;
  /** How many output tokens are held at once. Default 256. */
  readonly step?: number | undefined;
  /** The service that is called: an `upstream` of @sluice/outgoing. A call leaves when the budget and its `limits` have room, and takes both or neither. */
  readonly upstream?: LimitedService | undefined;
  /** What a call takes of the `limits` of `upstream`: `({ input, output }) => ({ tokens: input + output })`. Default: what its own options say. */
  readonly cost?: ((usage: Usage) => Cost) | undefined;
}

const OPTIONS = ['who', 'count', 'amounts', 'step', 'upstream', 'cost'] as const;

/** @throws TypeError, RangeError naming the invalid option */
export function checkModelOptions<Who, Axes extends string>(
  where: string,
  budget: Meter<Who, Axes>,
  options: ModelOptions<Who, Axes>,
  more: readonly string[] = [],
) {
  if (!(budget instanceof Meter))
    throw new TypeError(`${where}: budget must be made by meter(…), not ${describe(budget)}`);
  checkOptions(where, options, [...OPTIONS, ...more]);
  const { who, count, amounts, step = 256, upstream, cost } = options;
  if (who === undefined) throw new TypeError(`${where}: who must name whose budget pays, not undefined`);
  checkFunction(`${where}: count`, count);
  checkFunction(`${where}: amounts`, amounts);
  if (upstream !== undefined && typeof upstream?.withCost !== 'function')
    throw new TypeError(
      `${where}: upstream must be made by upstream(…) of @sluice/outgoing, not ${describe(upstream)}`,
    );
  if (cost !== undefined) checkFunction(`${where}: cost`, cost);
  if (cost !== undefined && upstream === undefined)
    throw new TypeError(`${where}: cost is what a call takes of the limits of upstream: pass upstream, too`);
  checkInteger(`${where}: step`, step, 1);
  return { where, budget, who, count, amounts, step, upstream, cost };
}
