import { describe } from '@sluice/core/internal';
import type { Path, Report } from './problems.js';

const MOST_LEVELS = 64;
const MOST_VALUES = 200_000;

/**
 * A copy of JSON data: own properties only, so a later change of the object changes no rule. Reports values that are not JSON, and keys named
 * `__proto__`.
 */
export function copyData(given: unknown, report: Report): unknown {
  let values = 0;
  return copy(given, []);

  function copy(value: unknown, path: Path): unknown {
    values += 1;
    if (values > MOST_VALUES) {
      if (values === MOST_VALUES + 1) report.add([], `the document has more than ${MOST_VALUES} values`);
      return null;
    }
    if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
    if (typeof value === 'number' && Number.isFinite(value)) return value;
    if (typeof value !== 'object') return refuse(path, value);
    if (path.length > MOST_LEVELS) {
      report.add(path, `the document is nested more than ${MOST_LEVELS} levels deep`);
      return null;
    }
    if (Array.isArray(value)) return value.map((item, i) => copy(item, [...path, i]));
    const prototype = Object.getPrototypeOf(value);
    if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return refuse(path, value);
    const made: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(value)) {
      if (key === '__proto__')
        report.add([...path, key], "a field cannot be named '__proto__'", { atKey: true });
      else if (item !== undefined) made[key] = copy(item, [...path, key]);
    }
    return made;
  }

  function refuse(path: Path, value: unknown): null {
    report.add(
      path,
      `the document has texts, numbers, true, false, null, lists and plain objects, not ${describe(value)}`,
    );
    return null;
  }
}
