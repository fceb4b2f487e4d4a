import { writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fixedWindow, RateLimiter } from '../../../packages/core/src/index.js';
import { sqliteStore } from '../../../packages/sqlite/src/index.js';

// Takes permits without an end, and writes a line for each answer. `killed.deep.test.ts` kills it.

async function main([file, driver, limit, inFlight]: readonly string[]): Promise<void> {
  const Database = createRequire(driver!)(driver!);
  const store = sqliteStore({ file: file!, open: (path) => new Database(path) });
  const policy = fixedWindow({ limit: Number(limit), window: '24h' });
  const limiter = new RateLimiter({ name: 'killed', policy, store, deadline: '30s' });
  const take = async (): Promise<never> => {
    for (;;) {
      await limiter.consume('k');
      writeSync(1, '.\n');
    }
  };
  await Promise.all(Array.from({ length: Number(inFlight) }, take));
}

void main(process.argv.slice(2));
