import type { Contest } from './contests.js';
import type { Answered } from './fleet.js';
import type { Judge } from './judge.js';

/** Moments (µs) at which a key's state was lost, in whole or in part; the judge starts again at each. */
export type Losses = (key: number) => readonly number[];

const NONE: Losses = () => [];

export function byKey(answers: readonly Answered[]): Map<number, Answered[]> {
  const keys = new Map<number, Answered[]>();
  for (const answer of answers) {
    const calls = keys.get(answer.key);
    if (calls === undefined) keys.set(answer.key, [answer]);
    else calls.push(answer);
  }
  return keys;
}

export function violations(admitted: readonly Answered[], judge: Judge, losses = NONE): string[] {
  return [...byKey(admitted)].flatMap(([key, calls]) =>
    reigns(calls, losses(key)).flatMap((reign) => {
      const violation = judge(reign.map((call) => ({ ...call, whole: call.moment + call.detail })));
      return violation === undefined ? [] : [`key ${key}: ${violation}`];
    }),
  );
}

/** The calls that an ideal limiter admits at the same moments: a machine that was blocked sends fewer calls. */
export function idealOf(answers: readonly Answered[], ideal: Contest['ideal'], losses = NONE): Answered[] {
  return [...byKey(answers)].flatMap(([key, calls]) =>
    reigns(calls, losses(key)).flatMap((reign) => {
      const goes = ideal();
      return reign.filter(({ moment, cost }) => goes(moment, cost));
    }),
  );
}

/** The calls before, between and after the losses. */
export function reigns<T extends { readonly moment: number }>(
  calls: readonly T[],
  losses: readonly number[],
): T[][] {
  const edges = [Number.NEGATIVE_INFINITY, ...losses, Number.POSITIVE_INFINITY];
  return edges.slice(1).map((end, i) => calls.filter(({ moment }) => moment >= edges[i]! && moment < end));
}

export const permits = (calls: readonly { readonly cost: number }[]): number =>
  calls.reduce((sum, { cost }) => sum + cost, 0);

export const percent = (share: number): string => `${(100 * share).toFixed(1)} %`;

/** Rows of cells, the first row of headings, in columns. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map(([first, ...rest]) => [
      first!.padEnd(widths[0]!),
      ...rest.map((cell, i) => cell.padStart(widths[i + 1]!)),
    ])
    .map((row) => row.join('  '))
    .join('\n');
}
