import { readFileSync } from 'node:fs';
import { Instances } from './instance.js';
import { PROMISES } from './promises.js';
import { type Broken, simulate } from './simulate.js';
import type { TableFault } from './world.js';

// Run in a process of its own: Jest's sandbox makes every use of a global slow.
//   node program.cjs <bundle of product.ts> <first seed> <number of seeds> [table fault]
// Prints { broken, seeds, ms } as JSON; stops at the first broken promise.

// Nobody reads the stacks of the errors that faults cause, and making them takes a third of the time.
Error.stackTraceLimit = 0;

async function main(): Promise<void> {
  const [bundle, first, count, tableFault] = process.argv.slice(2);
  const instances = new Instances(readFileSync(bundle!, 'utf8'), bundle!);
  const begun = performance.now();
  let broken: Broken | undefined;
  let seeds = 0;
  for (; seeds < Number(count) && broken === undefined; seeds += 1)
    broken = await simulate(
      (Number(first) + seeds) | 0,
      instances,
      PROMISES,
      tableFault as TableFault | undefined,
    );
  console.log(JSON.stringify({ broken, seeds, ms: Math.round(performance.now() - begun) }));
}

void main();
