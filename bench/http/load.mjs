import { performance } from 'node:perf_hooks';
import autocannon from 'autocannon';
import { median } from '../lib/measure.mjs';

const CONNECTIONS = 50;

/**
 * Measures servers side by side: in each round every server gets one short slice, in an order that rotates, so that other load on the
 * machine affects all of them. First each server gets a longer slice to warm up, which is not counted.
 * @param servers each { server, status }; every response must have this status. Each gets `slices`, one per round: requests per second,
 *   and µs of the server's CPU per request
 */
export async function measureServers(servers, { rounds, sliceMs, warmUpMs, onRound = () => {} }) {
  for (const one of servers) {
    await slice(one, warmUpMs);
    one.slices = [];
  }
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < servers.length; i++) {
      const one = servers[(i + round) % servers.length];
      one.slices.push(await slice(one, sliceMs));
    }
    onRound(round + 1);
  }
}

async function slice(one, ms) {
  const { server, status } = one;
  const before = await server.cpu();
  const rest = stayAwake();
  const start = performance.now();
  const { statusCodeStats, errors } = await autocannon({
    url: server.url,
    connections: CONNECTIONS,
    duration: ms / 1000,
    sampleInt: 10, // ms between two checks of the time
  });
  const seconds = (performance.now() - start) / 1000;
  rest();
  const cpu = (await server.cpu()) - before;
  const codes = Object.keys(statusCodeStats);
  if (codes.length === 0 && errors === 0) return slice(one, 2 * ms); // the machine was busy during the whole slice
  if (errors > 0 || codes.join() !== String(status)) {
    throw new Error(
      `${server.url} answered ${JSON.stringify(statusCodeStats)} with ${errors} errors, not ${status}`,
    );
  }
  const { count } = statusCodeStats[status];
  return { rate: count / seconds, cpu: cpu / count };
}

/**
 * Keeps the client awake during a slice. Waking a sleeping client costs the server as much as a small request, and a slower server,
 * whose client sleeps more often, would pay that cost more often.
 */
function stayAwake() {
  let next;
  const again = () => {
    next = setImmediate(again);
  };
  again();
  return () => clearImmediate(next);
}

/** The median, and half the distance between the quartiles. */
export function summary(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const middle = median(sorted);
  const [low, high] =
    half === 0 ? [middle, middle] : [median(sorted.slice(0, half)), median(sorted.slice(-half))];
  return { median: middle, spread: (high - low) / 2 };
}
