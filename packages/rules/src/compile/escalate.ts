import type { EscalateOptions } from '@sluice/core';
import { compileEscalation } from '@sluice/core/http';
import type { Path, Report } from '../document/problems.js';
import type { RuleInput } from '../document/schema.js';

/** The escalation of a rule; reports the value that core refuses. */
export function checkEscalate(
  { name, escalate, mode }: RuleInput,
  path: Path,
  report: Report,
): EscalateOptions | undefined {
  if (escalate === undefined) return undefined;
  const at = [...path, 'escalate'];
  if (mode === 'shadow') {
    report.add(at, `escalate has no effect in the shadow rule '${name}': its denials are not counted`, {
      atKey: true,
    });
  }
  try {
    compileEscalation('rule', escalate);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    const [, option, index] = /escalate\.(\w+)(?:\[(\d+)\])?/.exec(error.message) ?? [];
    const inList = index !== undefined && Array.isArray(escalate.block) ? [Number(index)] : [];
    report.add(
      [...at, ...(option === undefined ? [] : [option]), ...inList],
      error.message.replace(/^rule: /, ''),
    );
  }
  return escalate;
}
