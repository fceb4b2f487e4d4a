import { runFleet } from './virtual-fleet.js';

// A fleet in virtual time in a process of its own. `limits-of-others.deep.test.ts` bundles this file.

void runFleet(JSON.parse(process.argv[2]!)).then((ran) => console.log(JSON.stringify(ran)));
