import { AGAIN, contenders, PEER } from './contenders/index.mjs';

export const IN_FLIGHT = [1, 50, 500];
const WORKLOADS = ['hot', 'keys', 'denied', 'memory'];

/**
 * Applies the words of `--only`: names of workloads, numbers in flight, and parts of contenders' ids. A kind without a word keeps all of
 * its values. The peers that others are compared with always stay.
 * @throws Error for a word that names nothing, or if nothing is left
 */
export function choose(words = []) {
  const rest = words.filter((word) => !WORKLOADS.includes(word) && !IN_FLIGHT.includes(Number(word)));
  for (const word of rest) {
    if (contenders.some(({ id }) => id.includes(word))) continue;
    const ids = contenders.map(({ id }) => id).join(', ');
    throw new Error(
      `--only: nothing is named ${word}; there are ${WORKLOADS.join(', ')}, ${IN_FLIGHT.join(', ')}, ${ids}`,
    );
  }
  const named = (list) => {
    const left = list.filter((item) => words.includes(String(item)));
    return left.length === 0 ? list : left;
  };
  const workloads = named(WORKLOADS);
  const peers = [...Object.values(PEER), AGAIN];
  const chosen = ({ id }) => rest.length === 0 || rest.some((word) => id.includes(word));
  const of = (place) => {
    const here = contenders.filter(({ where }) => where === place);
    return here.some(chosen) ? here.filter((one) => chosen(one) || peers.includes(one.id)) : [];
  };
  const left = {
    workloads,
    inFlight: named(IN_FLIGHT),
    redis: workloads.some((workload) => workload !== 'memory') ? of('redis') : [],
    memory: workloads.includes('memory') ? of('memory') : [],
  };
  if (left.redis.length + left.memory.length === 0) throw new Error(`--only=${words}: leaves nothing`);
  return left;
}
