import { LAYOUT } from '@sluice/core/internal';
import { count } from '../../words.js';
import { nodeCheck } from '../check.js';
import type { DoctorNode } from '../node.js';

/** Steps of `SCAN` without `--scan`. */
const MOST_STEPS = 20;
const STEP = 1_000;

/** Checks the layouts of the stored keys. Scans a bounded number of keys, or all with `--scan`. */
export const layouts = nodeCheck({
  about: 'layouts',
  why: {
    'layout-old':
      'Processes of an older release count separately: at most one limit extra per key. Keys that nobody uses expire.',
    'layout-newer': 'Processes of a newer release count separately, and this command cannot read their keys.',
    'keys-foreign': 'Calls that meet a foreign value under their key reject with StoreConfigurationError.',
  },
  of: 'primaries',
  async look(node, report, { prefix, scan }) {
    const seen = await keysOf(node, prefix, scan);
    if (seen === undefined) return;
    const { counts, all } = seen;
    const looked = all ? 'of all keys' : `of the first ${MOST_STEPS * STEP} or so (--scan looks at all)`;
    const own = numberOf(LAYOUT);
    for (const [layout, number] of counts) {
      const what = `${count(number, 'key')} ${looked} ${number === 1 ? 'has' : 'have'} the layout ${layout}; this version uses ${LAYOUT}`;
      if (layout === '')
        report.note(
          'keys-foreign',
          number === 1
            ? `1 key ${looked} begins with ${prefix}: and is none of Sluice's`
            : `${number} keys ${looked} begin with ${prefix}: and are none of Sluice's`,
          `Give limiters a keyPrefix of their own.`,
        );
      else if (numberOf(layout) < own)
        report.note('layout-old', what, 'Finish the update. Old keys expire by themselves.');
      else if (numberOf(layout) > own)
        report.warning(
          'layout-newer',
          what,
          'Finish the update, or go back with all processes; use the newer sluice command.',
        );
    }
    const ours = counts.get(LAYOUT) ?? 0;
    report.ok(`${count(ours, 'key')} ${looked} ${ours === 1 ? 'has' : 'have'} the layout ${LAYOUT}`);
  },
});

const numberOf = (layout: string): number => Number(layout.slice(1));

/** Numbers of keys by layout; '' for keys of another form. */
async function keysOf(
  node: DoctorNode,
  prefix: string,
  scan: boolean,
): Promise<{ counts: Map<string, number>; all: boolean } | undefined> {
  const counts = new Map<string, number>();
  const form = /^(v\d+):/;
  let cursor = '0';
  for (let step = 0; scan || step < MOST_STEPS; step += 1) {
    const pattern = `${prefix.replace(/[*?[\]\\]/g, '\\$&')}:*`;
    const reply = await node.ask('which layouts keys have', 'SCAN', cursor, 'MATCH', pattern, 'COUNT', STEP);
    if (reply === undefined) return undefined;
    const [next, keys] = reply as [string, string[]];
    for (const key of keys) {
      const layout = form.exec(key.slice(prefix.length + 1))?.[1] ?? '';
      counts.set(layout, (counts.get(layout) ?? 0) + 1);
    }
    cursor = next;
    if (cursor === '0') return { counts, all: true };
  }
  return { counts, all: false };
}
