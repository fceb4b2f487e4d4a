import { readFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { type Walk, walk } from './walk.js';

// SLUICE_WALK=print npx jest tests/integration/structure/walk prints what runs.

/** Today's numbers. Lower them with each change that shortens the walk. */
const FILES = 20;
const CALLS = 79;

let walked: Walk;
beforeAll(async () => {
  walked = await walk(redisUrl(), uniqueName('walk'));
  if (process.env.SLUICE_WALK === 'print')
    process.stdout.write(`${walked.files} files, ${walked.calls} calls\n${walked.list}\n`);
}, 120_000);

test('an allowed Express request on Redis runs few of our files and functions', () => {
  const { files, calls, list } = walked;
  if (files > FILES || calls > CALLS)
    throw new Error(`${files} files (${FILES}), ${calls} calls (${CALLS}):\n${list}`);
});

test('the walk contains files from the adapter to the store', () => {
  for (const path of ['express/src/middleware.ts', 'core/src/stores/redis/sender.ts'])
    expect(walked.list).toContain(path);
});

test('the road in ARCHITECTURE.md names each file of the walk', () => {
  const page = readFileSync(resolve(__dirname, '../../../ARCHITECTURE.md'), 'utf8');
  const road = /```text\n(.*?)```/s.exec(page)?.[1] ?? '';
  const files = walked.list.split('\n').filter((line) => line.endsWith('.ts'));
  expect(files).toHaveLength(walked.files);
  expect(files.filter((file) => !road.includes(basename(file)))).toEqual([]);
});
