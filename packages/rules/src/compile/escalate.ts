import type { EscalateOptions } from '@sluice/core';
import { compileEscalation } from '@sluice/core/internal';
import type { Path } from '../document/problems.js';
import type { RuleInput } from '../document/schema.js';
import type { PlanNumbers } from './plan-numbers.js';

/** The escalation of a rule for one plan; reports a value that core rejects. */
export function compileEscalate(
  { name, escalate, mode }: RuleInput,
  numbers: PlanNumbers,
  path: Path,
): EscalateOptions | undefined {
  if (escalate === undefined) return undefined;
  const at = [...path, 'escalate'];
  if (mode === 'shadow') {
    numbers.tell(at, `escalate has no effect in the shadow rule '${name}': its denials are not counted`, {
      atKey: true,
    });
  }
  const options = numbers.readAll(escalate, at) as EscalateOptions | undefined;
  if (options === undefined) return undefined;
  try {
    compileEscalation('rule', options);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    const [, option, index] = /escalate\.(\w+)(?:\[(\d+)\])?/.exec(error.message) ?? [];
    const inList = index !== undefined && Array.isArray(escalate.block) ? [Number(index)] : [];
    numbers.tell(
      [...at, ...(option === undefined ? [] : [option]), ...inList],
      `${error.message.replace(/^rule: /, '')}${numbers.suffix(escalate)}`,
    );
  }
  return options;
}
