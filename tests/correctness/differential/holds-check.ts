import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { redisUrl } from '../../support/redis-url.js';
import { run } from '../../support/run.js';

/** Holds and settles in TypeScript and in Lua. @returns the kinds of answers seen. @throws Error with the first difference */
export async function compareHolds(runs: number, firstSeed: number): Promise<string[]> {
  const holds = await bundle(join(__dirname, 'holds.ts'));
  const args = [holds.file, redisUrl(), String(runs), String(firstSeed)];
  const { ok, output } = await run(process.execPath, args, { timeoutMs: 3_600_000 });
  await holds.remove();
  if (!ok) throw new Error(output);
  return JSON.parse(output);
}
