import { policyText } from '@sluice/fleet';
import type { Context } from '../command.js';
import { limiterWords } from '../commands/ls.js';
import { NOBODY } from '../fleet.js';
import type { Style } from '../output.js';
import { table, widthOf, wrapped } from '../text.js';
import { keyRows, rate } from '../usage.js';
import { count, lengthOfMicros } from '../words.js';
import type { Step } from './next.js';
import type { LimiterState, State } from './state.js';

/** The most limiters that are listed: the screen shows a state at a glance. */
const MOST_LIMITERS = 8;

type Screen = Pick<Context, 'output' | 'address' | 'store' | 'redis' | 'storeFlags'>;

/** The state as lines that fit the terminal. */
export function render(context: Screen, state: State, steps: readonly Step[]): string[] {
  const { output, storeFlags = '' } = context;
  const { width } = output;
  const { usage, denied, problems } = state;
  const isCounted = usage.processes.length > 0;
  const say = (text: string, style?: Style, indent = '') =>
    wrapped(text, width, indent).map((line) => (style === undefined ? line : output.style(style, line)));
  const part = (title: string, lines: readonly string[]) => ['', output.style('bold', title), ...lines];
  const problemsOf = (wanted: string, style: Style) =>
    problems.flatMap(({ level, what }) => (level === wanted ? say(what, style, '  ') : []));
  const { heads, rows } = keyRows(denied, 'DENIED');
  const deniedLines = rows.length === 0 ? ['No key was denied.'] : table(heads, rows, width - 2);
  const [warnings, notes] = [problemsOf('warning', 'red'), problemsOf('note', 'yellow')];
  const nothing = isCounted
    ? 'Nothing: no outage and no failed call in the last minute.'
    : 'Nothing that the store shows. Failed calls are not counted.';
  return [
    ...say(headOf(context, state)),
    ...limiterLines(state, isCounted, width),
    ...notesOf(context, state).flatMap((text) => say(text, 'dim')),
    ...(isCounted
      ? part(
          'Denied most in the last minute',
          deniedLines.map((line) => `  ${line}`),
        )
      : []),
    ...part('Wrong now', warnings.length > 0 ? warnings : say(nothing, undefined, '  ')),
    ...(notes.length > 0 ? part('To know', notes) : []),
    ...part(
      context.storeFlags === undefined ? 'Next, with the options of this command' : 'Next',
      stepLines(storeFlags, steps, width),
    ),
  ];
}

const isUpstash = ({ redis, store }: Screen): boolean => redis === undefined && store.name === 'redis';

function headOf(screen: Screen, { roundTrip, fleet: { processes, limiters } }: State): string {
  const time =
    roundTrip < 10_000 ? `${Number((roundTrip / 1_000).toFixed(2))} ms` : lengthOfMicros(roundTrip);
  const answers = `${screen.address} answers in ${time}.`;
  const names = new Set(limiters.map(({ definition: { name } }) => name));
  if (processes.length > 0)
    return `${answers} ${onHosts(processes)} ${processes.length === 1 ? 'has' : 'have'} ${count(names.size, 'limiter')}.`;
  const option = isUpstash(screen) ? ' With Upstash a process publishes only with definitions: true.' : '';
  return `${answers} No process has published limiters. ${NOBODY}${option}`;
}

const processCount = (processes: LimiterState['processes']): string =>
  count(processes.length, 'process', 'processes');

const onHosts = (processes: LimiterState['processes']): string =>
  `${processCount(processes)} on ${count(new Set(processes.map(({ host }) => host)).size, 'host')}`;

function limiterLines({ limiters }: State, isCounted: boolean, width: number): string[] {
  if (limiters.length === 0) return [];
  const lines = limiters.slice(0, MOST_LIMITERS).flatMap(({ known, processes, rates }) => {
    const { name, policies } = limiterWords(known, policyText);
    const calls = isCounted
      ? `, ${rate(rates?.allowed ?? 0)} allowed/s, ${rate(rates?.denied ?? 0)} denied/s`
      : '';
    const own = wrapped(`${name}: ${onHosts(processes)}${calls}`, width, '  ', '');
    return [...own, ...policies.flatMap((text) => wrapped(text, width, '    ', '  '))];
  });
  const more = limiters.length - MOST_LIMITERS;
  return ['', ...lines, ...(more > 0 ? [`… and ${count(more, 'more limiter')}: sluice ls`] : [])];
}

/** What the figures leave out. */
function notesOf(screen: Screen, { usage, fleet: { processes } }: State): string[] {
  if (processes.length === 0) return [];
  const option = `${isUpstash(screen) ? 'upstash' : screen.store.name}Store({ …, usage: true })`;
  if (usage.processes.length === 0)
    return [
      `No process has counted its calls, so rates and denied keys are not known: ${option} counts them, from ten seconds after the first call.`,
    ];
  const counted = new Set(usage.processes.map(({ process }) => process));
  const others = processes.filter(({ process }) => !counted.has(process)).length;
  return [
    others > 0 &&
      `Figures without ${others} of ${processCount(processes)}: no option usage, no call in 15 minutes, or a first call less than ten seconds ago.`,
    usage.keys === 'hash' && `Keys are shown as digests: usage: { keys: 'plain' } shows them.`,
  ].filter((note) => note !== false);
}

/** The command lines are never broken, because people copy them. */
function stepLines(storeFlags: string, steps: readonly Step[], width: number): string[] {
  const lines = steps.map(({ command }) => `  sluice ${storeFlags}${command}`);
  const longest = Math.max(...lines.map(widthOf));
  const both = steps.map(({ does }, i) => `${lines[i]!.padEnd(longest + 2)}${does}`);
  if (both.every((line) => widthOf(line) <= width)) return both;
  return steps.flatMap(({ does }, i) => [lines[i]!, ...wrapped(does, width, '    ')]);
}
