import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { redisUrl } from '../../support/redis-url.js';
import { run } from '../../support/run.js';

test('the differential suite finds every mutant of decide.lua, and no difference in the original', async () => {
  const mutationRun = await bundle(join(__dirname, 'mutation-run.ts'));
  const { ok, output } = await run(process.execPath, [mutationRun.file, redisUrl()], { timeoutMs: 600_000 });
  await mutationRun.remove();
  if (!ok) throw new Error(output);
  const { mutants, ...found } = JSON.parse(output);
  expect(found).toEqual({ wrong: [], survivors: [], stale: [] });
  expect(mutants).toBeGreaterThan(150);
}, 600_000);
