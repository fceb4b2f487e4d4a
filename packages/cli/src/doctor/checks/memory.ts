import { nodeCheck } from '../check.js';

const [ALERT, FULL] = [0.8, 0.95];
const MEND = 'CONFIG SET maxmemory to twice what limits need: docs/operations.md has the bytes of a key.';

/** Checks the free memory. */
export const memory = nodeCheck({
  about: 'memory',
  why: {
    'memory-low': 'When it is full, writes fail (OOM) and the failurePolicy decides, or limits are evicted.',
    'memory-unbounded': 'Without maxmemory the system ends the server when the machine has no memory left.',
  },
  look({ info }, report) {
    const total = info.number('maxmemory');
    const used = info.number('used_memory');
    if (total === undefined || used === undefined) return;
    const counted = used - (info.optionalNumber('mem_not_counted_for_evict') ?? 0);
    if (total > 0) {
      const share = counted / total;
      const what = `${percent(share)} of maxmemory is in use: ${size(counted)} of ${size(total)}`;
      if (share >= FULL) report.error('memory-low', what, MEND);
      else if (share >= ALERT) report.warning('memory-low', what, MEND);
      else report.ok(what);
      return;
    }
    const machine = info.optionalNumber('total_system_memory');
    const what = `maxmemory is 0, and ${size(used)}${machine ? ` of the machine's ${size(machine)}` : ''} are in use`;
    if (machine !== undefined && used / machine >= ALERT) report.warning('memory-unbounded', what, MEND);
    else report.note('memory-unbounded', what, MEND);
  },
});

const percent = (share: number): string => `${Math.floor(share * 100)} %`;

function size(bytes: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const unit = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log2(bytes) / 10)));
  return `${Number((bytes / 1024 ** unit).toFixed(1))} ${units[unit]}`;
}
