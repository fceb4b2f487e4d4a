import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** Bytes in use after garbage collection. Buffers are freed outside the collector, and later. */
async function used() {
  gc();
  await setTimeout(50);
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** The growth of this process by the work, in bytes. The work's result is kept alive until then. */
export async function growth(work) {
  const before = await used();
  const kept = await work();
  const grown = (await used()) - before;
  return { grown, kept };
}

/** V8 stores a joined string as a tree of its parts. This copy is one piece, as in a store. */
export const flat = (text) => Buffer.from(text, 'latin1').toString('latin1');
