import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '../../support/eventually.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { blockTagged } from '../docs/markdown.js';
import { recipePackages } from './packages.js';
import { type Program, startBlock } from './program.js';

interface Queue {
  getJobs(): Promise<{ attemptsStarted: number; attemptsMade: number; failedReason?: string }[]>;
  getJobCounts(...types: string[]): Promise<Record<string, number>>;
  obliterate(options: { force: boolean }): Promise<void>;
}

const PAGE = 'docs/recipes/bullmq.md';
const file = resolve(__dirname, '../../..', PAGE);
const connection = new Redis(redisUrl(), { maxRetriesPerRequest: null });
let modules: string;
beforeAll(async () => {
  modules = await recipePackages();
}, 300_000);
let program: Program;
let queue: Queue;
afterEach(async () => {
  await program?.stop();
  await queue?.obliterate({ force: true });
});
afterAll(() => connection.quit());

async function start(replace: Readonly<Record<string, string>> = {}): Promise<void> {
  const name = uniqueName('mail');
  const bullmq = createRequire(join(modules, 'bullmq/package.json'))('bullmq');
  queue = new bullmq.Queue(name, { connection });
  const all = { "'mail'": `'${name}'`, ...replace };
  program = await startBlock(PAGE, 'bullmq', { modules, replace: all, ready: 'sent acme' });
}

const sent = () => [...program.output().matchAll(/^sent acme (\d+)$/gm)].map(([, mail]) => Number(mail));
const all = Array.from({ length: 12 }, (_, i) => i);

test('denied jobs come back until each has run once, and count no attempt; SIGTERM ends the program', async () => {
  await start();
  await eventually(async () => sent().length >= 12);
  expect(sent().sort((a, b) => a - b)).toEqual(all);

  const jobs = await eventually(async () => {
    const found = await queue.getJobs();
    return found.every(({ attemptsMade }) => attemptsMade === 1) && found;
  });
  expect(jobs.filter(({ attemptsStarted }) => attemptsStarted > 1).length).toBeGreaterThan(0);
  expect(jobs.filter(({ failedReason }) => failedReason !== undefined)).toEqual([]);
  expect(await program.terminate()).toBe(0);
});

test('jobs that wait in their worker keep their order, and none is lost', async () => {
  const row = /^\| the order of the jobs \| `(.*?)`/m.exec(readFileSync(file, 'utf8'))![1]!;
  const program = blockTagged(file, 'bullmq');
  const denied = program.slice(program.indexOf('    const {'), program.indexOf('    console.log'));
  await start({
    [denied]: `${row.replace('customer', 'job.data.customer')};\n`,
    "window: '1s'": "window: '6s'",
  });
  await eventually(async () => (await queue.getJobCounts('completed', 'failed')).completed === 12);
  expect(sent()).toEqual(all);
});

test('jobs of other groups run while a group waits for its limit', async () => {
  await start({
    "customer: 'acme'": "customer: mail < 12 ? 'acme' : 'globex'",
    'length: 12': 'length: 15',
    'concurrency: 20': 'concurrency: 1',
    "window: '1s'": "window: '1h'",
  });
  const others = () =>
    [...program.output().matchAll(/^sent globex (\d+)$/gm)].map(([, mail]) => Number(mail));
  await eventually(async () => others().length === 3);
  expect([sent(), others()]).toEqual([
    [0, 1, 2, 3, 4],
    [12, 13, 14],
  ]);
  expect(await queue.getJobCounts('delayed')).toEqual({ delayed: 7 });
});
