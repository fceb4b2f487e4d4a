import { join } from 'node:path';
import { bundle } from '../../support/bundle.js';
import { redisUrl } from '../../support/redis-url.js';
import { run } from '../../support/run.js';
import { policies } from './policies.js';

/**
 * All decisions are implemented twice: in TypeScript and in Lua. Both get the same random calls at the same injected moments. Every
 * answer and every stored byte must be equal, and every TTL to the millisecond.
 */

const HOLDING = 'rates together with a concurrency limit';
const ESCALATING = [
  'with an escalation',
  'several policies with escalations',
  'concurrency with an escalation',
];
export const subjects = [...Object.keys(policies), 'several policies at once', HOLDING, ...ESCALATING];

/** Found in few histories: with few of each subject, only some subjects have it. Which ones changes with each new algorithm. */
export const RARE_ANSWER = 'step 2';

/** Kinds of answers that the histories must contain to be useful. @param many are these many histories? */
export const expectedAnswers = (subject: string, many: boolean): string[] => {
  if (subject === HOLDING) return ['consume', 'denied', 'returned', 'step 1'];
  const always = [
    'consume',
    'acquire',
    'peek',
    'denied',
    'never',
    'returned',
    'clock back',
    'block',
    'reset',
  ];
  const steps = many ? ['step 1', RARE_ANSWER] : ['step 1'];
  const more = ESCALATING.includes(subject) ? steps : [];
  return [...always, ...more, subject.startsWith('concurrency') ? 'queued' : 'booked'];
};

let twins: Awaited<ReturnType<typeof bundle>>;
beforeAll(async () => {
  twins = await bundle(join(__dirname, 'twins.ts'));
});
afterAll(() => twins?.remove());

/** @returns the kinds of answers seen, for each subject. @throws Error with the first difference */
export async function compareTwins(
  names: readonly string[],
  runs: number,
  seed: number,
): Promise<Record<string, string[]>> {
  const args = [twins.file, redisUrl(), String(runs), String(seed), ...names];
  const { ok, output } = await run(process.execPath, args, { timeoutMs: 3_600_000 });
  if (!ok) throw new Error(output);
  return JSON.parse(output);
}
