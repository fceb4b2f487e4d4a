import { doctor } from '../commands/doctor.js';
import { explain } from '../commands/explain.js';
import { ls } from '../commands/ls.js';
import { rules } from '../commands/rules.js';
import { tail } from '../commands/tail.js';
import { top } from '../commands/top.js';
import { withKeys } from '../fleet.js';
import { quoted, shownKey } from '../text.js';
import type { State } from './state.js';

/** A command line that shows more, without `sluice`. */
export interface Step {
  readonly command: string;
  /** What it does. */
  readonly does: string;
}

/** The most steps that are listed. */
const MOST = 5;
const SUMMARIES = new Map(
  [doctor, explain, ls, rules, tail, top].map(({ name, summary }) => [name, summary]),
);

/** What to do next, the most urgent first. @param examines has `doctor` checks for this store? */
export function nextSteps(state: State, examines: boolean): readonly Step[] {
  const { problems, usage, fleet } = state;
  const nextOf = (wanted: string) => problems.flatMap(({ level, next }) => (level === wanted ? [next] : []));
  const commands = new Set([
    ...explainCommand(state),
    ...nextOf('warning'),
    ...nextOf('note'),
    ...(usage.processes.length > 0 ? ['top'] : []),
    ...(fleet.processes.some(({ denials }) => denials) ? ['tail'] : []),
    'doctor',
    'ls',
  ]);
  if (!examines) commands.delete('doctor');
  return [...commands]
    .slice(0, MOST)
    .map((command) => ({ command, does: SUMMARIES.get(command.split(' ')[0]!)! }));
}

/** For the key that was denied most, if it can be written on a command line. */
function explainCommand({ denied: [first], fleet, usage }: State): string[] {
  // A digest is no key that a limiter gets.
  if (first === undefined || usage.keys === 'hash') return [];
  const { limiter, key } = first;
  const isKnown = withKeys(fleet).some(({ definition: { name } }) => name === limiter);
  if (!isKnown || shownKey(key) !== key) return [];
  const isOption = [limiter, key].some((word) => word.startsWith('-'));
  return [`explain ${isOption ? '-- ' : ''}${quoted(limiter)} ${quoted(key)}`];
}
