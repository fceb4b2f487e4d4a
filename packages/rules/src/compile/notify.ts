import type { LimiterBaseOptions } from '@sluice/core';
import { kindsWithWindows, readNotify } from '@sluice/core/internal';
import type { Path, Report } from '../document/problems.js';
import type { LimitInput, RuleInput } from '../document/schema.js';

export type NotifyOptions = NonNullable<LimiterBaseOptions['notify']>;

/** The thresholds of a rule's limits, in the form of the option `notify`. Reports values that core would reject. */
export function compileNotify(rule: RuleInput, path: Path, report: Report): NotifyOptions | undefined {
  const { limit, limits } = rule;
  if (limit !== undefined) return thresholdsOf(limit, rule, [...path, 'limit'], report);
  const named = Object.entries(limits ?? {}).flatMap(([name, one]) => {
    const thresholds = thresholdsOf(one, rule, [...path, 'limits', name], report);
    return thresholds === undefined ? [] : [[name, thresholds] as const];
  });
  return named.length === 0 ? undefined : Object.fromEntries(named);
}

function thresholdsOf(
  { notify, ...algorithms }: LimitInput,
  { name, mode }: RuleInput,
  path: Path,
  report: Report,
): readonly `${number}%`[] | undefined {
  if (notify === undefined) return undefined;
  const at = [...path, 'notify'];
  const [algorithm] = Object.keys(algorithms);
  if (algorithm !== undefined && !kindsWithWindows.includes(algorithm)) {
    report.add(
      at,
      `notify is for ${kindsWithWindows.join(', ')}, whose permits are counted in windows, not for ${algorithm}`,
      {
        atKey: true,
      },
    );
  }
  if (mode === 'shadow') {
    report.add(at, `notify has no effect in the shadow rule '${name}'`, { atKey: true });
  }
  const thresholds = notify as `${number}%`[];
  try {
    readNotify('limit', thresholds, ['limit'], false);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    report.add(at, error.message.replace(/^limit: /, ''));
  }
  return thresholds;
}
