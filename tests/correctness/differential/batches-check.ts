import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { redisUrl } from '../../support/redis-url.js';
import { run } from '../../support/run.js';

export const expectedAnswers = [
  'consume',
  'acquire',
  'peek',
  'denied',
  'foreign',
  'joined',
  'queued',
  'refund',
  'override',
  'escalated',
];

/** Sends calls of one moment in a batch and one by one. @returns the kinds of answers seen. @throws Error with the first difference */
export async function compareBatches(runs: number, seed: number): Promise<string[]> {
  const batches = await bundle(join(__dirname, 'batches.ts'));
  const args = [batches.file, redisUrl(), String(runs), String(seed)];
  const { ok, output } = await run(process.execPath, args, { timeoutMs: 3_600_000 });
  await batches.remove();
  if (!ok) throw new Error(output);
  return JSON.parse(output);
}
