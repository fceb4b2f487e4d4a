import { randomFrom, seedOf } from '../../support/random.js';
import { cases } from './oracles.js';
import { walk } from './walk.js';

// Run by exactness.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node walks.cjs <algorithm> <steps>
// Prints the first difference, or nothing.

/** Steps of each policy: enough that rounding would add up. */
const STEPS_OF_A_POLICY = 20_000;
const [name = '', steps = '0'] = process.argv.slice(2);
const random = randomFrom(seedOf(20_251_121));
for (let left = Number(steps); left > 0; left -= STEPS_OF_A_POLICY) {
  const one = cases[name]!(random);
  const wrong = walk(one, Math.min(left, STEPS_OF_A_POLICY), random);
  if (wrong !== undefined) {
    console.log(`${JSON.stringify(one.policy)}: ${wrong}`);
    process.exit(1);
  }
}
