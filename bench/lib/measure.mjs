import { performance } from 'node:perf_hooks';

/**
 * Measures cells side by side: in each round every cell gets one short slice, in an order that rotates, so that whatever else
 * the machine does meets all of them. The first round warms up and is not counted.
 * @param cells each { contender, keys, inFlight, expect }; gets `rates` (decisions/s, one for each round), `redisCpu` and
 *   `clientCpu` (µs a decision)
 */
export async function measure(cells, { rounds, sliceMs, redisCpu, onRound = () => {} }) {
  for (const cell of cells) Object.assign(cell, { rates: [], decisions: 0, redis: 0, client: 0, next: 0 });
  for (let round = 0; round <= rounds; round++) {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[(i + round) % cells.length];
      const remote = cell.contender.where === 'redis';
      const before = remote ? await redisCpu() : 0;
      const cpu = process.cpuUsage();
      const { decisions, ms } = await slice(cell, sliceMs, remote ? 1 : 64);
      const { user, system } = process.cpuUsage(cpu);
      const after = remote ? await redisCpu() : 0;
      if (round === 0) continue;
      cell.rates.push((decisions / ms) * 1000);
      cell.decisions += decisions;
      cell.redis += after - before;
      cell.client += user + system;
    }
    onRound(round);
  }
  for (const cell of cells) {
    cell.rate = median(cell.rates);
    cell.redisCpu = cell.redis / cell.decisions;
    cell.clientCpu = cell.client / cell.decisions;
  }
}

/** Keeps `inFlight` calls going for a while; looks at the clock after every `chunk` calls of a worker. */
async function slice(cell, sliceMs, chunk) {
  const { contender, keys, inFlight, expect } = cell;
  let decisions = 0;
  const start = performance.now();
  const worker = async () => {
    do {
      for (let i = 0; i < chunk; i++) {
        const allowed = await contender.decide(keys[cell.next++ % keys.length]);
        if (allowed !== expect) throw new Error(`${contender.name} (${contender.where}) answered ${allowed}`);
      }
      decisions += chunk;
    } while (performance.now() - start < sliceMs);
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  return { decisions, ms: performance.now() - start };
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}
