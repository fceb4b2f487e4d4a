import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { NEW_CASES } from '../../support/random.js';
import { redisUrl } from '../../support/redis-url.js';
import { run } from '../../support/run.js';
import { cases } from '../../support/runs.js';

/** A log of 5,000 requests lasts for over an hour, in which summer time ends. */
const REQUESTS = cases(5_000, 20_000);

interface Limit {
  readonly rule: string;
  readonly algorithm: string;
  readonly denied: number;
}

test('a replay in memory decides each request of a log as Redis does, by all algorithms', async () => {
  const { file, remove } = await bundle(join(__dirname, 'replay-on-redis.ts'));
  const { ok, output } = await run(process.execPath, [file, redisUrl(), String(REQUESTS)], {
    timeoutMs: 290_000,
  });
  await remove();
  if (!ok) throw new Error(output);
  const limits: Limit[] = JSON.parse(output);
  // Each algorithm was compared where it denies. In a new log a limit may never deny, because another limit of its rule denies first.
  if (!NEW_CASES) expect(limits.filter(({ denied }) => denied === 0)).toEqual([]);
  expect(new Set(limits.map(({ algorithm }) => algorithm)).size).toBe(7);
  expect(limits.find(({ rule }) => rule === 'next')!.denied).toBeGreaterThan(100);
}, 300_000);
