import { existsSync, readFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { median, quantile } from './measure.mjs';
import { cpuOfTree } from './process-cpu.mjs';

/** CPU time of the whole machine since it started, in µs; `steal` is the time that the host gave to other machines. */
function machine() {
  let busy = 0;
  let total = 0;
  for (const { times } of cpus()) {
    const { idle, ...rest } = times;
    const used = Object.values(rest).reduce((sum, ms) => sum + ms, 0);
    busy += used * 1000;
    total += (used + idle) * 1000;
  }
  return { busy, total, steal: steal() };
}

/** In ticks of 10 ms; undefined where it cannot be read. */
function steal() {
  if (!existsSync('/proc/stat')) return undefined;
  const ticks = Number(/^cpu +(?:\d+ +){7}(\d+)/.exec(readFileSync('/proc/stat', 'latin1'))?.[1]);
  return Number.isNaN(ticks) ? undefined : ticks * 10_000;
}

/** Measures the CPU that programs use from now on which are not of this bench: neither it nor its children. */
export function watchMachine() {
  const start = machine();
  const cpu = cpuOfTree(process.pid);
  const load = loadavg()[0];
  return () => {
    const end = machine();
    const ours = cpuOfTree(process.pid) - cpu;
    const total = end.total - start.total;
    return {
      load: [load, loadavg()[0]],
      others: Math.max(0, (end.busy - start.busy - ours) / total),
      steal: end.steal === undefined ? undefined : (end.steal - start.steal) / total,
    };
  };
}

/** The spread of a cell's slices: half the distance between the quartiles, divided by the median. */
export const spread = (rates) => (quantile(rates, 0.75) - quantile(rates, 0.25)) / 2 / median(rates);

/** The other load on the machine. */
export const loadText = ({ load, others, steal }) =>
  [
    others > 0.1
      ? `Noise: THE MACHINE WAS LOADED: others used ${percent(others)} of its CPU`
      : `Noise: the machine was quiet: others used ${percent(others)} of its CPU`,
    `load average ${load.map((value) => value.toFixed(1)).join(' → ')}`,
    `stolen by its host ${steal === undefined ? 'unknown' : percent(steal)}`,
  ].join('; ');

export const percent = (part) => `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
