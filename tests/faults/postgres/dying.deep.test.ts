import { eventually } from '../../support/eventually.js';
import { sql } from '../../support/postgres/index.js';
import { startDying } from './dying.js';
import { limiterOf, ownPostgres, storeAt } from './servers.js';

// Processes that die within their transaction, at a moment that the test has chosen.

const LIMIT = 1_000;
const DEATH = { signal: 'SIGKILL', turn: 5, limit: LIMIT, deadline: 10_000 } as const;

test.each([
  { moment: 'locked', kept: 4, why: 'nothing of its turn was written' },
  { moment: 'sent', kept: 5, why: 'its turn was committed' },
] as const)('a process killed when $moment leaves $kept permits taken: $why', async ({ moment, kept }) => {
  const { url } = await ownPostgres();
  const { answers, ended } = await startDying(url, { ...DEATH, moment });
  await ended;
  expect(answers).toEqual(Array(4).fill('answered'));
  const limiter = limiterOf(storeAt(url), LIMIT);
  // The server may still read what the process has sent.
  await eventually(async () => LIMIT - (await limiter.peek('k')).remaining === kept);
  expect(await limiter.consume('k')).toMatchObject({ allowed: true, degraded: false });
});

test('others go on soon after a process was frozen with its keys locked, and it never counts twice', async () => {
  const { url } = await ownPostgres();
  const death = { ...DEATH, moment: 'locked', signal: 'SIGSTOP', deadline: 1_500 } as const;
  const frozen = await startDying(url, death);
  await eventually(async () => {
    const query = "SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction'";
    return frozen.answers.length === 4 && (await sql(url, query)).length === 1;
  });
  const limiter = limiterOf(storeAt(url), LIMIT, { deadline: '1500ms', failurePolicy: 'deny' });
  const other = await limiter.consume('another key');
  expect(other).toMatchObject({ allowed: true, degraded: false });
  // Until the server ends the transaction, the failure policy decides.
  const first = await eventually(async () => {
    const decision = await limiter.consume('k');
    return decision.degraded ? undefined : decision;
  });
  expect(first).toMatchObject({ allowed: true });
  // Four of the process, the first one allowed, and maybe the call before it: its turn may have ended after its deadline.
  const ours = LIMIT - (await limiter.peek('k')).remaining - 4;
  expect([1, 2]).toContain(ours);
  frozen.child.kill('SIGCONT');
  // Its turn fails, and its next ones count. The failed one is not repeated.
  await eventually(async () => frozen.answers.length > 10);
  frozen.child.kill('SIGKILL');
  await frozen.ended;
  const counted = frozen.answers.filter((answer) => answer === 'answered').length;
  expect(frozen.answers.filter((answer) => answer === 'degraded').length).toBeLessThanOrEqual(1);
  const taken = LIMIT - (await limiter.peek('k')).remaining;
  expect(taken - ours - counted).toBeGreaterThanOrEqual(0);
  expect(taken - ours - counted).toBeLessThanOrEqual(1); // the call under way when it was killed
});
