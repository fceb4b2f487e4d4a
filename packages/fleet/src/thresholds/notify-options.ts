import type { NotifyOptions, Threshold } from '@sluice/core';
import { describe, isRecord, type Thresholds } from '@sluice/core/internal';

/** Permits that must be used to reach a level. */
const permitsAt = (level: number, limit: number): number => Math.max(1, Math.ceil((limit * level) / 10_000));

/** How many levels are reached. */
export function levelsReached({ levels }: Thresholds, limit: number, used: number): number {
  let reached = 0;
  while (reached < levels.length && used >= permitsAt(levels[reached]!, limit)) reached += 1;
  return reached;
}

export const nameOfLevel = (level: number): Threshold => `${level / 100}%`;

const MOST = 10;
const PERCENT = /^(\d{1,3}(?:\.\d{1,2})?)%$/;

/**
 * The levels of each policy that has thresholds, by its name.
 * @throws TypeError, RangeError for invalid thresholds
 */
export function readNotify(
  where: string,
  notify: NotifyOptions,
  names: readonly string[],
  several: boolean,
): ReadonlyMap<string, readonly number[]> {
  if (!several) return new Map([[names[0]!, levelsOf(`${where}: notify`, notify)]]);
  if (!isRecord(notify)) {
    throw new TypeError(
      `${where}: with several policies notify has the thresholds of each by its name, such as { ${names[0]}: ['80%', '100%'] }, not ${describe(notify)}`,
    );
  }
  return new Map(
    Object.entries(notify).map(([name, levels]) => {
      if (names.includes(name)) return [name, levelsOf(`${where}: notify.${name}`, levels)];
      throw new TypeError(
        `${where}: notify: there is no policy '${name}'; the policies are ${names.join(', ')}`,
      );
    }),
  );
}

function levelsOf(what: string, given: unknown): readonly number[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MOST) {
    throw new TypeError(
      `${what} must be a list of 1 to ${MOST} thresholds, such as ['80%', '100%'], not ${describe(given)}`,
    );
  }
  const levels = given.map((threshold: unknown) => {
    const [, percent] = (typeof threshold === 'string' && PERCENT.exec(threshold)) || [];
    const level = Math.round(Number(percent) * 100);
    if (level >= 1 && level <= 10_000) return level;
    throw new RangeError(
      `${what}: a threshold is a part of the limit, '0.01%' to '100%', such as '80%', not ${describe(threshold)}`,
    );
  });
  return [...new Set(levels)].sort((a, b) => a - b);
}
