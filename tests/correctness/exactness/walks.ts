import { randomFrom, seedOf } from '../../support/random.js';
import { cases } from './oracles.js';
import { walk } from './walk.js';

/** Walks in a process of its own: Jest's sandbox makes every use of a global slow. Prints the first difference, or nothing. */
const POLICIES = 500;
const [name = '', steps = '0'] = process.argv.slice(2);
const random = randomFrom(seedOf(20_251_121));
for (let i = 0; i < POLICIES; i += 1) {
  const one = cases[name]!(random);
  const wrong = walk(one, Number(steps) / POLICIES, random);
  if (wrong !== undefined) {
    console.log(`${JSON.stringify(one.policy)}: ${wrong}`);
    process.exit(1);
  }
}
