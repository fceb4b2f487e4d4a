import { checkFunction, checkInteger, checkOptions, describe } from '@sluice/core/internal';
import type { Amounts } from '../amounts.js';
import { Meter } from '../meter.js';
import type { Usage } from './reader.js';

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
}

const OPTIONS = ['who', 'count', 'amounts', 'step'] as const;

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
  const { who, count, amounts, step = 256 } = options;
  if (who === undefined) throw new TypeError(`${where}: who must name whose budget pays, not undefined`);
  checkFunction(`${where}: count`, count);
  checkFunction(`${where}: amounts`, amounts);
  return { where, budget, who, count, amounts, step: checkInteger(`${where}: step`, step, 1) };
}
