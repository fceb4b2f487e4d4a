import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { merged } from '../../../../tests/support/conformance/all.js';
import { compilePolicy } from './index.js';

/** The tags of the algorithms that have a `take-run.lua`. */
const supportsRuns = readdirSync(__dirname, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('take-run.lua'))
  .flatMap((file) => /^-- @tag (.*)$/m.exec(readFileSync(join(__dirname, file), 'utf8'))![1]!.split(' '));

test.each(Object.entries(merged(({ policies }) => policies)))(
  '%s has expandRun exactly if it has a take-run.lua, because the size of batches depends on it',
  (_, policyOf) => {
    const { algorithm } = compilePolicy(policyOf('1m'));
    expect(algorithm.speed?.expandRun !== undefined).toBe(supportsRuns.includes(algorithm.tag));
  },
);
