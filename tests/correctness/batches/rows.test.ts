import fc from 'fast-check';
import { Redis } from 'ioredis';
import type { Policy } from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import { decideScript } from '../../../packages/core/src/engine/decide.script.js';
import {
  fixedWindow,
  gcra,
  slidingLog,
  slidingWindow,
  tokenBucket,
} from '../../../packages/core/src/index.js';
import { answerCalls, Numbers } from '../../../packages/core/src/stores/redis/reply.js';
import { undeclared, written } from '../../../packages/core/src/stores/redis/wire.js';
import { limitOf } from '../../support/limit-of.js';
import { redisUrl, uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { answers, batchOf } from '../differential/replay.js';
import { QUICK_RUNS, QUICK_SEED } from '../differential/runs.js';
import { asNewerServer, asOlderServer, REDIS_8_4, VALKEY_9_1 } from './server-versions.js';

/*
 * A server that knows MSETEX writes keys in a row together. The same calls are decided for all keys in one script call, and for each key alone
 * as an older server does. Answers, states and how long they are kept must be the same.
 */

const redis = new Redis(redisUrl());
afterAll(() => redis.disconnect());

const KEYS = 9;
const policies: readonly Policy[] = [
  fixedWindow({ limit: 3, window: '10h' }),
  fixedWindow({ limit: 3, window: '10h', align: 'clock' }),
  tokenBucket({ capacity: 3, refill: 1, every: '10h' }),
  gcra({ limit: 3, period: '100h' }),
  slidingLog({ limit: 3, window: '10h' }),
  slidingWindow({ limit: 3, window: '10h', slots: 10 }),
];
const histories = fc.record({
  policy: fc.constantFrom(...policies),
  /** These keys hold lists: they are read as nothing, and must stay as they are. */
  lists: fc.oneof(fc.constant<number[]>([]), fc.uniqueArray(fc.nat(KEYS - 1), { maxLength: 2 })),
  turns: fc.array(
    fc.record({
      /** µs since the turn before. */
      move: fc.oneof(fc.nat(1_000_000), fc.nat(12 * 3_600_000_000), fc.constant(-1_000)),
      keys: fc.uniqueArray(fc.nat(KEYS - 1), { minLength: 2 }),
      cost: fc.constantFrom(1, 1, 1, 2),
      times: fc.constantFrom(1, 1, 2, 5),
    }),
    { minLength: 1, maxLength: 6, size: 'max' },
  ),
});
type History = typeof histories extends fc.Arbitrary<infer H> ? H : never;

/** Decides the calls of a turn for these keys in one script call. */
async function decided(
  script: string,
  policy: Policy,
  names: readonly string[],
  now: number,
  turn: Omit<History['turns'][0], 'move' | 'keys'>,
  declares = true,
) {
  const limit = limitOf(compilePolicy(policy));
  const calls = names.flatMap((key) =>
    Array.from({ length: turn.times }, () => ({
      operation: 'consume' as const,
      wait: 0,
      parts: [{ limit, key, cost: turn.cost, at: 0 }],
    })),
  );
  const batch = batchOf(calls);
  const declared = written(batch, now);
  const { keys, args } = declares ? declared : undeclared(declared, '');
  const reply = await redis.eval(script, keys.length, ...keys, ...args);
  const [numbers, wrote, refused] = reply as [unknown, number, number];
  answerCalls(batch.groups, new Numbers(numbers));
  const outcomes = batch.groups.flatMap((group) =>
    group.calls.map((call) => answers.get(call)!.catch(({ cause }) => String(cause).slice(0, 40))),
  );
  return { answers: await Promise.all(outcomes), wrote, refused };
}

/** What a key holds, and for how long, ms. */
async function stored(name: string): Promise<{ readonly state: unknown; readonly life: number }> {
  const isList = (await redis.type(name)) === 'list';
  const state = isList ? await redis.lrange(name, 0, -1) : (await redis.getBuffer(name))?.toString('hex');
  return { state, life: await redis.pttl(name) };
}

/** Keys are written some time apart, and kept for hours. */
const TOLERANCE = 600_000;

test.each([
  ['as Redis 8.4', asNewerServer(decideScript.source, REDIS_8_4)],
  ['as Valkey 9.1', asNewerServer(decideScript.source, VALKEY_9_1)],
  ['as this server', `return { (function()\n${decideScript.source}\nend)(), 0, 0 }`],
])(
  'keys in a row are decided and kept as each key alone, %s',
  async (server, script) => {
    const alone = asOlderServer(decideScript.source);
    const seen = { wrote: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(histories, async ({ policy, lists, turns }) => {
        const [together, apart] = ['row', 'alone'].map((what) =>
          Array.from({ length: KEYS }, () => uniqueName(what)),
        ) as [string[], string[]];
        for (const list of lists)
          for (const names of [together, apart]) await redis.lpush(names[list]!, 'own');
        let now = START;
        for (const turn of turns) {
          now += turn.move;
          const row = await decided(
            script,
            policy,
            turn.keys.map((key) => together[key]!),
            now,
            turn,
          );
          const single = [];
          for (const key of turn.keys) {
            single.push(...(await decided(alone, policy, [apart[key]!], now, turn)).answers);
          }
          expect(row.answers).toEqual(single);
          for (const [i, name] of together.entries()) {
            const [inRow, byItself] = [await stored(name), await stored(apart[i]!)];
            expect(inRow.state).toEqual(byItself.state);
            expect(Math.abs(inRow.life - byItself.life)).toBeLessThan(TOLERANCE);
          }
          seen.wrote += row.wrote;
          seen.refused += row.refused;
        }
        await redis.del(...together, ...apart);
      }),
      { numRuns: QUICK_RUNS, seed: QUICK_SEED },
    );
    if (server !== 'as this server') {
      expect(seen.wrote).toBeGreaterThan(QUICK_RUNS);
      expect(seen.refused).toBeGreaterThan(0);
    }
  },
  120_000,
);

test('keys that are not declared, as in a cluster, are written without MSETEX', async () => {
  const names = Array.from({ length: KEYS }, () => uniqueName('undeclared'));
  const script = asNewerServer(decideScript.source, VALKEY_9_1);
  for (const remaining of [2, 1, 0]) {
    const turn = await decided(script, policies[0]!, names, START, { cost: 1, times: 1 }, false);
    expect(turn.answers).toMatchObject(names.map(() => ({ parts: [{ remaining }] })));
    expect(turn.wrote + turn.refused).toBe(0);
  }
});
