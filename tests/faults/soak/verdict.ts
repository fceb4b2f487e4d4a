import type { Soak } from './soak.ts';

/** Permitted growth of the heap by random faults, MB. Code and caches take about 2, after 20 s as after 100 s. */
export const TOLERANCE = 3;
/** The least share of each kind of call that is not refused. */
const LIVELY = 0.1;

/** The violations; empty if there are none. */
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
  // A run without calls of a kind would prove nothing.
  for (const [kind, { calls, redis }] of Object.entries(after.tallies)) {
    complain(kind !== 'guest' && redis < calls * LIVELY, `${kind}: Redis hardly did any`);
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

/** The run, as Markdown. */
export function tables({ before, after, faults, exit }: Soak): string {
  const tallies = Object.entries(after.tallies).sort(([a], [b]) => (a < b ? -1 : 1));
  const total = tallies.reduce((sum, [, tally]) => sum + tally.calls, 0);
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
      ...tallies.map(([kind, { calls, redis, degraded, refused, slowest }]) => [
        `\`${kind}\``,
        ...[calls, redis, degraded, refused].map(String),
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
      [
        'events `degraded`, `recovered`, `storeError`',
        eventsInWords(before.events),
        eventsInWords(after.events),
      ],
      ['anything wrong', String(before.wrong.length), String(after.wrong.length)],
      ['the process ended by itself', '', exit === 0 ? 'yes' : 'no'],
    ]),
  ].join('\n\n');
}

const range = (heaps: readonly number[]): string =>
  heaps.length === 0 ? '' : `${mb(Math.min(...heaps))}, ${mb(Math.max(...heaps))}`;
const handles = (resources: readonly string[]): string => `${resources.length} (${resources.join(', ')})`;
const eventsInWords = (events: Soak['after']['events']): string =>
  [events.degraded, events.recovered, events.storeError].join(', ');

function markdown([head, ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head!), line(head!.map((_, i) => (i === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}
