import { describe, nearest } from '@sluice/core/internal';
import type { z } from 'zod';
import type { Path, Report } from './problems.js';
import { fieldsOf } from './schema-parts.js';

/** Reports the issues that zod found. Its messages are written in the schema, and begin with `must`. */
export function reportIssues(issues: readonly z.core.$ZodIssue[], document: unknown, report: Report): void {
  const unknownFirst = [...issues].sort((a, b) => Number(isUnknown(b)) - Number(isUnknown(a)));
  for (const issue of unknownFirst) {
    const path = issue.path as Path;
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) unknownField(issue.message, [...path, key], key, report);
      continue;
    }
    if (issue.code === 'invalid_key') {
      report.add(path, `${describe(path.at(-1))} ${innerMessage(issue.issues)}`, { atKey: true });
      continue;
    }
    const meant = issue.code === 'invalid_union' ? meantOption(issue.errors) : undefined;
    if (meant !== undefined) {
      const inner = meant.map((one) => ({ ...one, path: [...issue.path, ...one.path] }));
      reportIssues(inner, document, report);
      continue;
    }
    const value = valueAt(document, path);
    const last = path.at(-1);
    if (value === undefined && last !== undefined) {
      if (report.isMisspelt(path)) continue;
      report.add(path.slice(0, -1), `'${last}' is missing: it ${issue.message}`);
      continue;
    }
    const hint =
      issue.code === 'invalid_value' && typeof value === 'string'
        ? nearest(value, issue.values.map(String))
        : undefined;
    report.add(path, `${nameOf(path)} ${issue.message}, not ${describe(value)}`, { hint });
  }
}

const isUnknown = ({ code }: z.core.$ZodIssue): boolean => code === 'unrecognized_keys';

/** The issues of the union's option that has the type of the value: an object or a list of objects. */
function meantOption(options: readonly (readonly z.core.$ZodIssue[])[]) {
  const sameType = options.filter((issues) =>
    issues.every(({ code, path }) => path.length > 0 || code === 'unrecognized_keys'),
  );
  return sameType.length === 1 ? sameType[0] : undefined;
}

function unknownField(kind: string, path: Path, key: string, report: Report): void {
  const accepted = fieldsOf(kind);
  const hint = nearest(key, accepted);
  const list = hint === undefined ? `: ${accepted.join(', ')}` : '';
  report.add(path, `${kind} has no field ${describe(key)}${list}`, { hint, atKey: true });
}

const innerMessage = (issues: readonly { readonly message: string }[]): string =>
  issues[0]?.message ?? 'is not a valid name';

/** The last name on the path, with an index after it. */
function nameOf(path: Path): string {
  const last = path.at(-1);
  if (last === undefined) return 'the document';
  return typeof last === 'number' ? `${path.at(-2) ?? ''}[${last}]` : last;
}

function valueAt(document: unknown, path: Path): unknown {
  let value = document;
  for (const step of path) {
    value =
      typeof value === 'object' && value !== null && Object.hasOwn(value, step)
        ? (value as never)[step]
        : undefined;
  }
  return value;
}
