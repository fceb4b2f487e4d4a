import { Redis } from 'ioredis';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import { randomFrom } from '../../support/random.js';
import { holdDifference, holdHistory, holdScript } from './hold-histories.js';

// Run by holds.test.ts and holds.deep.test.ts in a process of its own: Jest's sandbox makes every use of a global slow.
//   node holds.cjs <address of Redis> <runs> <first seed>
// Prints, as JSON, the kinds of answers seen; throws the first difference.

/** Steps of a history. */
const LENGTH = 40;

async function main(url: string, runs: number, first: number): Promise<void> {
  const redis = new Redis(url);
  const seen = new Set<string>();
  try {
    const sha1 = String(await redis.script('LOAD', holdScript(decideScript.source)));
    for (let seed = first; seed < first + runs; seed += 1) {
      const found = await holdDifference(redis, sha1, holdHistory(randomFrom(seed), LENGTH, seen));
      if (found !== undefined) throw new Error(`seed ${seed}: ${found}`);
    }
    console.log(JSON.stringify([...seen]));
  } finally {
    redis.disconnect();
  }
}

const [url = '', runs = '', first = ''] = process.argv.slice(2);
void main(url, Number(runs), Number(first));
