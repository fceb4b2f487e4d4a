import { randomBytes } from 'node:crypto';
import { fields, number, optional, readText, text, textOrNumber, whole } from '@sluice/fleet/internal';
import type { RuleSet } from '../rule-set.js';

/** A version of rules that was pushed to Redis. */
export interface RulesVersion {
  /** Number of the version, increased by each push. */
  readonly number: number;
  /** When it was pushed, ms since 1970 by the clock of Redis. */
  readonly at: number;
  /** Author of the push. */
  readonly by: string;
  /** The `version` in the document. */
  readonly version?: string | number | undefined;
  /** The number of the version whose text a rollback pushed again. */
  readonly rollbackTo?: number | undefined;
  /** For a `rollout` below 100 percent: its percent, and the number of the version for all other callers. */
  readonly percent?: number | undefined;
  readonly before?: number | undefined;
  /** The id of its text. */
  readonly id: string;
}

/** The most versions that are stored. */
export const MOST_VERSIONS = 10;

/** The stored list: one line for each version, the latest first, with its time and the rest as JSON. */
const LINE = /^(\d{1,15}) (\{.*\})$/s; // JSON does not escape U+2028
/** The characters of an id, which is part of a key. */
const ID = /^[\w-]{1,64}$/;

const version = fields<Omit<RulesVersion, 'at'>>({
  number: whole(),
  by: text(),
  version: optional(textOrNumber),
  rollbackTo: optional(whole()),
  percent: optional(number(100)),
  before: optional(whole()),
  id: text(ID),
});

/** @throws RangeError if another program wrote it */
export function parseList(stored: string): RulesVersion[] {
  if (stored === '') return [];
  return stored.split('\n').map((line) => {
    const [, at, json = ''] = LINE.exec(line) ?? [];
    try {
      return { ...readText(json, json.length, version), at: Number(at) };
    } catch {
      throw new RangeError('the key has a value of another program: delete it, and push the rules again');
    }
  });
}

/** A change of the list. */
export interface Push {
  readonly id: string;
  /** The line of the new version, without its time. */
  readonly line: string;
  /** The lines after it. */
  readonly rest: string;
  /** The versions to delete. */
  readonly dropped: readonly RulesVersion[];
}

/** The change that stores a new version. @param stored the list that was read */
export function pushOf(
  stored: string,
  { version, document }: RuleSet,
  about: { readonly by: string; readonly rollbackTo?: number | undefined },
): Push {
  const versions = parseList(stored);
  const [latest] = versions;
  const id = randomBytes(6).toString('hex');
  const number = (latest?.number ?? 0) + 1;
  const percent = document.rollout?.percent ?? 100;
  // A rollout of many steps must not lose the version of most callers: when it is complete, a rollback goes there.
  const needed = wholeVersion(versions);
  const rollout = percent < 100 ? { percent, before: needed?.number } : {};
  const kept = versions.slice(0, MOST_VERSIONS - 1);
  if (needed !== undefined && !kept.includes(needed)) kept.splice(-1, 1, needed);
  const lines = stored.split('\n');
  return {
    id,
    line: JSON.stringify({ number, id, version, ...about, ...rollout }),
    rest: kept.map((one) => `\n${lines[versions.indexOf(one)]}`).join(''),
    dropped: versions.filter((one) => !kept.includes(one)),
  };
}

/** The latest version without a partial rollout. */
export const wholeVersion = (versions: readonly RulesVersion[]): RulesVersion | undefined =>
  versions.find(({ percent }) => percent === undefined);

/**
 * The number of the version that a rollback takes by default: the version before. During a rollout, and when it is complete, the version
 * from before it: the text of a step would leave most callers with the version that is to go. A second rollback undoes the first.
 */
export function rollbackTarget(versions: readonly RulesVersion[]): number | undefined {
  const [latest, before] = versions;
  if (latest?.percent !== undefined) return latest.before;
  return latest?.rollbackTo === undefined ? wholeVersion(versions.slice(1))?.number : before?.number;
}
