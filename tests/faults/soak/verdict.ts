import type { Soak } from './soak.ts';

/** MB of heap that may be more after random faults than after a short life: code and caches of what is done often. */
export const TOLERANCE = 2;
/** Of the calls of a kind that are no mere refusals, at the least. */
const LIVELY = 0.1;

/** What is wrong; empty if nothing is. */
export function complaints({ before, after, faults, exit }: Soak): string[] {
  const found = [...before.wrong, ...after.wrong, ...before.unsettled, ...after.unsettled];
  const complain = (wrong: boolean, what: string): void => void (wrong && found.push(what));
  complain(
    after.heap > before.heap + TOLERANCE,
    `the heap grew from ${mb(before.heap)} to ${mb(after.heap)}`,
  );
  complain(
    String(after.resources) !== String(before.resources),
    `left open: ${after.resources}, after a short life: ${before.resources}`,
  );
  complain(after.clientListeners !== 0, `${after.clientListeners} listeners left on the client`);
  complain(after.signalListeners !== 0, `${after.signalListeners} listeners left on AbortSignals`);
  complain(exit !== 0, `the program did not end by itself (${exit})`);
  // Nothing may be well because nothing was done.
  for (const [kind, { asked, redis }] of Object.entries(after.tallies)) {
    complain(kind !== 'guest' && redis < asked * LIVELY, `${kind}: Redis hardly did any`);
  }
  for (const kind of ['consume', 'peek', 'acquire', 'hold', 'combined']) {
    const { redis = 0, degraded = 0 } = after.tallies[kind] ?? {};
    complain(redis === 0 || degraded === 0, `${kind}: ${redis} by Redis, ${degraded} by failure policies`);
  }
  complain(after.events.degraded === 0 || after.events.recovered === 0, 'no outage was noticed');
  complain(Object.keys(faults).length < 5, 'there were hardly any faults');
  return found;
}

const mb = (value: number): string => `${value.toFixed(1)} MB`;

/** What happened, as Markdown. */
export function tables({ before, after, faults, exit }: Soak): string {
  const calls = Object.entries(after.tallies).sort(([a], [b]) => (a < b ? -1 : 1));
  const total = calls.reduce((sum, [, { asked }]) => sum + asked, 0);
  return [
    markdown([
      [
        'calls',
        'made',
        'answered by Redis',
        'by failure policies',
        'refused',
        'longest beyond what was given',
      ],
      ...calls.map(([kind, { asked, redis, degraded, refused, slowest }]) => [
        `\`${kind}\``,
        ...[asked, redis, degraded, refused].map(String),
        `${Math.max(0, Math.round(slowest))} ms`,
      ]),
      ['all', String(total), '', '', '', ''],
    ]),
    markdown([
      ['faults', 'times'],
      ...Object.entries(faults)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, times]) => [name, String(times)]),
    ]),
    markdown([
      ['at the end, all closed', 'after half a minute', 'after random faults'],
      ['heap', mb(before.heap), mb(after.heap)],
      ['heap while it lived, least and most', range(before.heaps), range(after.heaps)],
      ['open handles', handles(before.resources), handles(after.resources)],
      ['listeners left on the client', String(before.clientListeners), String(after.clientListeners)],
      ['listeners left on AbortSignals', String(before.signalListeners), String(after.signalListeners)],
      ['calls that never settled', String(before.unsettled.length), String(after.unsettled.length)],
      ['events `degraded`, `recovered`, `storeError`', told(before.events), told(after.events)],
      ['anything wrong', String(before.wrong.length), String(after.wrong.length)],
      ['the process ended by itself', '', exit === 0 ? 'yes' : 'no'],
    ]),
  ].join('\n\n');
}

const range = (heaps: readonly number[]): string =>
  heaps.length === 0 ? '' : `${mb(Math.min(...heaps))}, ${mb(Math.max(...heaps))}`;
const handles = (resources: readonly string[]): string => `${resources.length} (${resources.join(', ')})`;
const told = (events: Soak['after']['events']): string =>
  [events.degraded, events.recovered, events.storeError].join(', ');

function markdown([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
