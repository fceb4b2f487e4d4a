import { count, lengthText, USUAL_DEADLINE } from '@sluice/core/internal';
import type { FleetProcess, UsageReport } from '@sluice/fleet';
import { RECENT_SLOTS } from '@sluice/fleet/internal';
import { listText, policiesText } from './words.js';

/** A mistake, an outage, or a difference between processes. */
export interface FleetProblem {
  readonly id: string;
  /** `warning`: limits fail, or did in the last minute. `note`: it may be as intended. */
  readonly level: 'warning' | 'note';
  readonly what: string;
  /** A command of `sluice` that shows more. */
  readonly next: string;
}

interface Seen {
  readonly processes: readonly FleetProcess[];
  readonly usage: UsageReport;
  /** How long one small answer of the store takes, µs. */
  readonly roundTrip: number;
}

/** A process publishes each minute: later than this it has missed one, ms. */
const SILENT = 75_000;

/** What is wrong, as far as a store and what processes published tell it. The warnings come first. */
export function fleetProblems(seen: Seen): FleetProblem[] {
  const rules = rulesProblems(seen.processes);
  const ofLevel = (wanted: string) => rules.filter(({ level }) => level === wanted);
  return [
    ...slowStore(seen),
    ...failedCalls(seen),
    ...ofLevel('warning'),
    ...silentProcesses(seen),
    ...mixedVersions(seen),
    ...mixedLimits(seen),
    ...ofLevel('note'),
  ];
}

const warning = (id: string, what: string, next: string): FleetProblem => ({
  id,
  level: 'warning',
  what,
  next,
});
const note = (id: string, what: string, next: string): FleetProblem => ({ id, level: 'note', what, next });

function slowStore({ roundTrip }: Seen): FleetProblem[] {
  if (roundTrip < USUAL_DEADLINE * 1_000) return [];
  const what = `An answer takes ${lengthText(roundTrip / 1_000)} from here. Limiters wait ${USUAL_DEADLINE} ms unless they have another deadline.`;
  return [warning('store-slow', what, 'doctor')];
}

function failedCalls({ usage }: Seen): FleetProblem[] {
  const problem = (result: 'degraded' | 'error', id: string, what: (calls: string) => string) => {
    const counted = usage.limiters.flatMap(({ limiter, decisions }) => {
      const calls = decisions[result].slice(-RECENT_SLOTS).reduce((sum, one) => sum + one, 0);
      return calls === 0 ? [] : [{ limiter, calls }];
    });
    if (counted.length === 0) return [];
    const sum = counted.reduce((total, { calls }) => total + calls, 0);
    const names = listText(counted.map(({ limiter }) => limiter));
    return [warning(id, `In the last minute ${what(`${count(sum, 'call')} of ${names}`)}`, 'doctor')];
  };
  return [
    ...problem(
      'degraded',
      'calls-degraded',
      (calls) => `the failure policy decided ${calls}: a process got no answer from its store.`,
    ),
    ...problem('error', 'calls-failed', (calls) => `${calls} failed with an error.`),
  ];
}

/** Rules that processes did not take, or that differ between them. */
export function rulesProblems(processes: readonly FleetProcess[]): FleetProblem[] {
  const all = processes.flatMap((process) => (process.rules ?? []).map((one) => ({ ...one, process })));
  const names = [...new Set(all.map(({ name }) => name))].sort();
  return names.flatMap((name) => {
    const running = all.filter((one) => one.name === name);
    const refused = running.filter(({ problem }) => problem !== undefined);
    const texts = new Map(
      running.map(({ fingerprint, version }) => [fingerprint, String(version ?? 'unnamed')]),
    );
    const problems: FleetProblem[] = [];
    const [first] = refused;
    if (first !== undefined) {
      const of = count(running.length, 'process', 'processes');
      const what = `${refused.length} of ${of} with the rules '${name}' cannot load the latest version; ${textOf(first.process)}: ${first.problem}`;
      problems.push(warning('rules-refused', what, `rules ${name}`));
    }
    if (texts.size > 1) {
      const what = `Processes run different texts of the rules '${name}': versions ${listText([...texts.values()].sort())}`;
      problems.push(note('rules-mixed', what, `rules ${name}`));
    }
    return problems;
  });
}

/** A process that has ended looks the same as one without a connection. */
function silentProcesses({ processes, usage }: Seen): FleetProblem[] {
  const counted = new Map(usage.processes.map(({ process, age }) => [process, age]));
  const ages = processes.map((one) => ({ one, age: Math.min(one.age, counted.get(one.process) ?? one.age) }));
  const silent = ages.filter(({ age }) => age > SILENT);
  if (silent.length === 0) return [];
  const [verb, it] = silent.length === 1 ? ['has', 'It'] : ['have', 'Each'];
  const what =
    `${silent.length} of ${count(processes.length, 'process', 'processes')} ${verb} published nothing for ` +
    `${lengthText(Math.max(...silent.map(({ age }) => age)))}: ${listText(silent.map(({ one }) => textOf(one)))}. ` +
    `${it} has ended, or gets no answer from the store, so that its failure policy decides.`;
  return [note('processes-silent', what, 'ls --processes')];
}

function mixedVersions({ processes }: Seen): FleetProblem[] {
  const versions = [...new Set(processes.map(({ version }) => version))].sort();
  if (versions.length < 2) return [];
  const what = `Processes run the versions ${listText(versions)} of Sluice. During an update that is normal.`;
  return [note('versions-mixed', what, 'ls --processes')];
}

function mixedLimits({ processes }: Seen): FleetProblem[] {
  const texts = new Map<string, Set<string>>();
  // The numbers of the other kinds depend on the call.
  for (const { limiters } of processes)
    for (const limiter of limiters)
      if (limiter.kind === 'limiter')
        texts.set(limiter.name, (texts.get(limiter.name) ?? new Set()).add(policiesText(limiter)));
  return [...texts].flatMap(([name, different]) => {
    if (different.size < 2) return [];
    const what = `Processes have different numbers for ${name}: ${listText([...different])}. During an update that is normal.`;
    return [note('limits-mixed', what, 'ls')];
  });
}

const textOf = ({ host, pid }: FleetProcess): string => `${host}:${pid}`;
