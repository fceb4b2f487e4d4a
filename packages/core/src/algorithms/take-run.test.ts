import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  concurrency,
  fixedWindow,
  gcra,
  leakyBucket,
  type Policy,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../index.js';
import { compilePolicy } from './index.js';

/** The tags of the algorithms that have a `take-run.lua`. */
const supportsRuns = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('take-run.lua'))
  .flatMap((file) => /^-- @tag (.*)$/m.exec(readFileSync(join(__dirname, file), 'utf8'))![1]!.split(' '));

test.each<[string, Policy]>([
  ['fixedWindow', fixedWindow({ limit: 10, window: '1m' })],
  ['slidingWindow', slidingWindow({ limit: 10, window: '1m' })],
  ['slidingLog', slidingLog({ limit: 10, window: '1m' })],
  ['tokenBucket', tokenBucket({ capacity: 10, refill: 1, every: '1s' })],
  ['gcra', gcra({ limit: 10, period: '1m' })],
  ['leakyBucket', leakyBucket({ capacity: 10, leak: 1, every: '1s' })],
  ['concurrency', concurrency({ limit: 10 })],
])(
  '%s has expandRun exactly if it has a take-run.lua, because the size of batches depends on it',
  (_, policy) => {
    const { algorithm } = compilePolicy(policy);
    expect(algorithm.speed?.expandRun !== undefined).toBe(supportsRuns.includes(algorithm.tag));
  },
);
