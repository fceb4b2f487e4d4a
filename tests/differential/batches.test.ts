import { join } from 'node:path';
import { bundle } from '../support/bundle.js';
import { redisUrl } from '../support/redis-url.js';
import { run } from '../support/run.js';

const RUNS = Number(process.env.SLUICE_DIFFERENTIAL_RUNS ?? 3_000);

test(`calls of one moment are answered in a batch as one by one, over ${RUNS} random runs`, async () => {
  const batches = await bundle(join(__dirname, 'batches.ts'));
  const { ok, output } = await run(process.execPath, [batches.file, String(RUNS), redisUrl()], {
    timeoutMs: 3_600_000,
  });
  await batches.remove();
  if (!ok) throw new Error(output);
  expect(JSON.parse(output)).toEqual(
    expect.arrayContaining([
      'consume',
      'acquire',
      'peek',
      'denied',
      'foreign',
      'joined',
      'queued',
      'refund',
      'override',
    ]),
  );
}, 3_600_000);
