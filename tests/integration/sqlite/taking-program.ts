import { takeAll } from './taking.js';

// Another process, which may run another version of Node.js: `drivers.deep.test.ts` starts it.

void takeAll(process.argv[2]!).then((taken) => process.stdout.write(JSON.stringify(taken)));
