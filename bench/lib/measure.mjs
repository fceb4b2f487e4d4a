import { performance } from 'node:perf_hooks';

/** Calls between two clock readings, which measure the latency and end the slice. A reading for each call would cost too much. */
const LOOK = 32;

/**
 * How long Sluice's deny cache answers before it calls Redis again. Slices of a cell are further apart, so each would begin with a call
 * of Redis. In steady traffic few slices do, so the others begin with a call that is not counted.
 */
const CACHED_MS = 1000;
const stale = (round, sliceMs) => round % (CACHED_MS / sliceMs) === CACHED_MS / sliceMs / 2;

/**
 * Measures cells side by side: in each round every cell gets one short slice, all contenders of a workload in a row, so that other
 * load on the machine affects all of them. The order rotates, and every other round runs backwards, so that no contender always
 * collects the garbage of the same one before it. The first round warms up and is not counted.
 * @param columns lists of cells, { contender, decide, keys, inFlight, expect, begin }, that are compared with each other. `begin`, if
 *   a cell has it, prepares a slice and returns what ends it; the first part of such a slice is not counted. Each cell gets one number for each round: `rates` (decisions/s), `clientCpu` and `redisCpu` (µs a decision); and `latencies` (ms, of every
 *   32nd call)
 */
export async function measure(columns, { rounds, sliceMs, redisCpu, onRound = () => {} }) {
  const cells = columns.flat();
  for (const cell of cells)
    Object.assign(cell, { rates: [], latencies: [], clientCpu: [], redisCpu: [], next: 0 });
  for (let round = 0; round <= rounds; round++) {
    if (round === 1) for (const cell of cells) cell.latencies.length = 0;
    for (const column of columns) {
      const order = round % 2 === 0 ? column : column.toReversed();
      for (let i = 0; i < order.length; i++) {
        const cell = order[(i + round) % order.length];
        if (cell.expect === false && !stale(round, sliceMs)) await cell.decide(cell.keys[0]);
        const end = cell.begin?.();
        if (end !== undefined) await slice(cell, sliceMs / 3);
        const before = await redisCpu();
        const cpu = process.cpuUsage();
        const { decisions, ms } = await slice(cell, sliceMs);
        const { user, system } = process.cpuUsage(cpu);
        const after = await redisCpu();
        end?.();
        if (round === 0) continue;
        cell.rates.push((decisions / ms) * 1000);
        cell.clientCpu.push((user + system) / decisions);
        cell.redisCpu.push((after - before) / decisions);
      }
    }
    onRound(round);
  }
}

/** Keeps `inFlight` calls going for a while, and checks every answer. */
async function slice(cell, sliceMs) {
  const { contender, decide, keys, inFlight, expect, latencies } = cell;
  let { next } = cell;
  const start = performance.now();
  let now = start;
  let decisions = 0;
  const worker = async () => {
    do {
      const asked = decisions++ % LOOK === 0 ? performance.now() : undefined;
      const allowed = await decide(keys[next++ % keys.length]);
      if (allowed !== expect) throw new Error(`${contender.name} answered ${allowed}, not ${expect}`);
      if (asked !== undefined) {
        now = performance.now();
        latencies.push(now - asked);
      }
    } while (now - start < sliceMs);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  cell.next = next;
  return { decisions, ms: performance.now() - start };
}

/** The ratio to a peer: the median of the rounds, each compared with the peer's slice of the same round. */
export const ratio = (values, peer) => median(values.map((value, round) => value / peer[round]));

export const median = (values) => quantile(values, 0.5);

/** Interpolates between two neighbours. */
export function quantile(values, q) {
  const sorted = Float64Array.from(values).sort();
  const at = (sorted.length - 1) * q;
  const below = Math.floor(at);
  return sorted[below] + (at - below) * (sorted[Math.ceil(at)] - sorted[below]);
}
