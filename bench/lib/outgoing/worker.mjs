import { once } from 'node:events';
import { contenders } from './contenders.mjs';

const work = JSON.parse(process.argv[2]);
const { load, close } = await contenders[work.contender](work);
process.send('ready');
await once(process, 'message'); // all processes begin together
const begun = performance.now();
let done = 0;
let half = 0;
await Promise.all(
  Array.from({ length: work.calls }, async (_, i) => {
    await load(`/${i}`);
    done += 1;
    if (done === Math.floor(work.calls / 2)) half = performance.now() - begun;
  }),
);
await close();
process.send({ half }, () => process.exit());
