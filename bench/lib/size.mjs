import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc');

/** Bytes in use when all that can be collected is. Buffers are given back beside the collector, and after it. */
async function used() {
  gc();
  await setTimeout(50);
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** By how many bytes this process has grown when the work is done; what that returned is kept until then. */
export async function growth(work) {
  const before = await used();
  const kept = await work();
  const grown = (await used()) - before;
  return { grown, kept };
}

/** A joined string is a tree of its parts; this copy is one piece, as in a store. */
export const flat = (text) => Buffer.from(text, 'latin1').toString('latin1');
