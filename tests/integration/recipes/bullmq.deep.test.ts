import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

interface Queue {
  getJobs(): Promise<{ attemptsStarted: number; attemptsMade: number; failedReason?: string }[]>;
  obliterate(options: { force: boolean }): Promise<void>;
}

const name = uniqueName('mail');
const connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
let program: Program;
let queue: Queue;
beforeAll(async () => {
  const modules = await recipePackages();
  const bullmq = createRequire(join(modules, 'bullmq/package.json'))('bullmq');
  queue = new bullmq.Queue(name, { connection });
  const replace = { "'mail'": `'${name}'` };
  program = await startBlock('docs/recipes/bullmq.md', 'bullmq', { modules, replace, ready: 'sent acme' });
}, 300_000);
afterAll(async () => {
  await program?.stop();
  await queue?.obliterate({ force: true });
  await connection.quit();
});

test('denied jobs come back until each has run once, and count no attempt', async () => {
  const sent = () => [...program.output().matchAll(/^sent acme (\d+)$/gm)].map(([, mail]) => Number(mail));
  await eventually(async () => sent().length >= 12);
  expect(sent().sort((a, b) => a - b)).toEqual(Array.from({ length: 12 }, (_, i) => i));

  const jobs = await eventually(async () => {
    const found = await queue.getJobs();
    return found.every(({ attemptsMade }) => attemptsMade === 1) && found;
  });
  expect(jobs.filter(({ attemptsStarted }) => attemptsStarted > 1).length).toBeGreaterThan(0);
  expect(jobs.filter(({ failedReason }) => failedReason !== undefined)).toEqual([]);
});
