import { NEVER, type State } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Random } from '../../support/random.js';
import type { Case } from './oracles.js';

const START = 1_735_689_600_000_000;

/** Sends the same calls to the algorithm and the plain rule, mostly at a pace that just uses up the limit. @returns the first difference */
export function walk(
  { policy, most, pace, left, take }: Case,
  steps: number,
  random: Random,
): string | undefined {
  const { algorithm, parameters } = compilePolicy(policy);
  let state: State | undefined;
  let now = START;
  let retry = 0;
  for (let step = 0; step < steps; step += 1) {
    // Two ninths of the calls come at the moment that the last denial named, one ninth a µs too early.
    const dice = random(9);
    if (dice < 3 && retry > now) now = dice === 0 ? retry - 1 : retry;
    else now += random(dice === 8 ? Math.ceil(pace * 40) : Math.ceil(pace * 2) + 1);
    if (state !== undefined && state[0]! <= now) state = undefined;
    const cost = 1 + (random(4) === 0 ? random(most) : 0);
    const wait = algorithm.wait(parameters, state, now, cost);
    const available = left(now);
    if ((wait === 0) !== cost <= available) {
      return `step ${step}: ${available} permits were left, and a call for ${cost} had to wait ${wait} µs`;
    }
    if (wait === NEVER) {
      if (cost <= most - 1) return `step ${step}: a cost of ${cost} was refused without end`;
      continue;
    }
    retry = now + wait;
    if (wait > 0) continue;
    const { remaining } = algorithm.usage(parameters, state, now);
    if (remaining !== available)
      return `step ${step}: ${available} permits were left, but remaining is ${remaining}`;
    state = algorithm.take(parameters, state, now, cost);
    take(now, cost);
  }
  return undefined;
}
