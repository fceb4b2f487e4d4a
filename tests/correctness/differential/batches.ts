import fc from 'fast-check';
import { Redis } from 'ioredis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { batchRuns, batchScript, compare, seen } from './batch-runs.js';
import type { Runs } from './runs.js';

// Run by batches.test.ts and batches.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node batches.cjs <address of Redis> <runs> <seed>
// Prints, as JSON, the kinds of answers seen; throws the first difference.

async function main(url: string, runs: Runs): Promise<void> {
  const redis = new Redis(url);
  try {
    const sha1 = String(await redis.script('LOAD', batchScript(decideScript.source)));
    await fc.assert(
      fc.asyncProperty(batchRuns, (run) => compare(redis, sha1, run)),
      runs,
    );
    console.log(JSON.stringify([...seen].sort()));
  } finally {
    redis.disconnect();
  }
}

const [url = '', runs = '', seed = ''] = process.argv.slice(2);
void main(url, { numRuns: Number(runs), seed: Number(seed) });
