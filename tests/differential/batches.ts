import fc from 'fast-check';
import { Redis } from 'ioredis';
import { decideScript } from '../../packages/core/src/decisions/decide.script.js';
import { batchRuns, batchScript, compare, seen } from './batch-runs.js';

// Run by batches.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node batches.cjs <runs> <address of Redis>
// Prints what was met on the way, as JSON; or throws what differed.

async function main(count: number, url: string): Promise<void> {
  const redis = new Redis(url);
  try {
    const sha1 = String(await redis.script('LOAD', batchScript(decideScript.source)));
    await fc.assert(
      fc.asyncProperty(batchRuns, (run) => compare(redis, sha1, run)),
      { numRuns: count },
    );
    console.log(JSON.stringify([...seen].sort()));
  } finally {
    redis.disconnect();
  }
}

const [count = '0', url = ''] = process.argv.slice(2);
void main(Number(count), url);
