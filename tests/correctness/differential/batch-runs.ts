import fc from 'fast-check';
import type { Redis } from 'ioredis';
import {
  ANY,
  JITTER,
  type Policy,
  type Rule,
  type State,
} from '../../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Answer, Call, Operation } from '../../../packages/core/src/call/call.js';
import { PendingCall } from '../../../packages/core/src/call/pending-call.js';
import { decide } from '../../../packages/core/src/engine/decide.js';
import { type Entry, expiryOf } from '../../../packages/core/src/engine/entry.js';
import { ESCALATION_SUFFIX } from '../../../packages/core/src/engine/escalation.js';
import { KeyState } from '../../../packages/core/src/engine/key-state.js';
import { answerCalls, Numbers } from '../../../packages/core/src/stores/redis/reply.js';
import { undeclared, written } from '../../../packages/core/src/stores/redis/wire.js';
import { limitOf } from '../../support/limit-of.js';
import { uniqueName } from '../../support/redis-url.js';
import { START } from '../../support/timeline.js';
import { escalationsOf, held, overridingWith, rates, sometimes } from './histories.js';
import { policies } from './policies.js';
import { answers, batchOf, HEX, packed } from './replay.js';

/**
 * TypeScript decides calls of one moment one by one, the script in one batch: the answers and the stored bytes must be equal.
 */

const { concurrency: semaphore, ...others } = policies;
const pair = (policy: fc.Arbitrary<Policy>) => fc.tuple(policy, policy);
/** Before and after a deploy. */
const any = fc.oneof(...Object.values(others).map(pair));
const RATES = 3;
/** The last key has a foreign value. */
const KEYS = RATES + 2;
const FOREIGN = KEYS - 1;

const question = fc.record({
  /** The keys of the call; most calls have one. */
  keys: fc.oneof(
    { weight: 12, arbitrary: fc.nat(RATES).map((key): number[] => [key]) },
    { weight: 1, arbitrary: fc.constant<number[]>([FOREIGN]) },
    { weight: 3, arbitrary: fc.uniqueArray(fc.nat(FOREIGN), { minLength: 2, maxLength: 3 }) },
  ),
  operation: fc.oneof(
    { weight: 10, arbitrary: fc.constant<Operation>('consume') },
    { weight: 6, arbitrary: fc.nat() },
  ),
  cost: fc.oneof({ weight: 5, arbitrary: fc.constant(1) }, { weight: 2, arbitrary: fc.nat(5) }),
  /** The cost of each key, if costs differ. */
  costs: sometimes(fc.array(fc.nat(3), { minLength: 3, maxLength: 3 })),
  wait: fc.oneof(fc.constant(0), fc.nat(10_000_000)),
  given: fc.nat(20),
  /** Before the deploy, after it, or as a call that is not enforced: without the escalation. */
  policy: fc.constantFrom(0, 0, 0, 0, 0, 1, 2),
  times: fc.oneof(
    { weight: 3, arbitrary: fc.constant(1) },
    { weight: 1, arbitrary: fc.integer({ min: 2, max: 15 }) },
  ),
});
const turn = fc.record({
  move: fc.oneof(
    fc.nat(200_000),
    fc.nat(3_600_000_000),
    fc.integer({ min: -5_000_000, max: 0 }),
    fc.constantFrom(-1, -JITTER, -JITTER - 1),
  ),
  calls: fc.array(question, { minLength: 1, maxLength: 12 }),
});
export const batchRuns = fc.record({
  rates: fc.array(any, { minLength: RATES, maxLength: RATES }),
  held: pair(semaphore!),
  escalations: fc.array(fc.option(escalationsOf(1)), { minLength: RATES + 1, maxLength: RATES + 1 }),
  turns: fc.array(turn, { minLength: 1, maxLength: 5, size: 'max' }),
});
export type Run = typeof batchRuns extends fc.Arbitrary<infer R> ? R : never;
type Question = Run['turns'][0]['calls'][0];

type Observed = Answer | 'foreign';

/** The keys in TypeScript, which decides call by call. */
class OneByOne {
  /** The keys, and from `KEYS` on those of their escalations. */
  readonly entries: (Entry | undefined)[] = [];
  readonly #rules: readonly (readonly Rule[])[];
  readonly #given: (readonly [number[], number[]])[] = [];

  constructor({ rates, held, escalations }: Run) {
    const spare = rates[0]!;
    this.#rules = [...rates, held, spare].map((set, key) => {
      const rules = set.map((policy, deploy) =>
        Object.assign(compilePolicy(policy), { escalation: escalations[key]?.[deploy]?.[0] }),
      );
      return [...rules, compilePolicy(set[0])];
    });
  }

  callOf({ keys, operation, cost, costs, wait, given, policy }: Question): Call {
    const holding = keys.includes(RATES);
    const operations = holding ? held.filter((each) => keys.length === 1 || each !== 'renew') : rates;
    const chosen = typeof operation === 'number' ? operations[operation % operations.length]! : operation;
    const [of, moments] = this.#given[given % (this.#given.length + 1)] ?? NONE;
    const parts = keys.map((key, i) => {
      const place = of.indexOf(key);
      const at = place === -1 ? (holding ? START : ANY) : moments[place]!;
      const rule = this.#rules[key]![policy]!;
      return { limit: limitOf(rule), key: String(key), cost: costs?.[i] ?? cost, at };
    });
    const overrides = keys.map((key) => overridingWith(this.#rules[key]![1]!));
    return { operation: chosen, wait, parts, overrides };
  }

  ask(call: Call, now: number): Observed {
    const keys = call.parts.map(({ key }) => Number(key));
    if (keys.includes(FOREIGN)) return 'foreign';
    const keyStates = call.parts.map((part, i) => {
      const [key, { escalation }] = [keys[i]!, part.limit.rule];
      const counted = escalation && (this.entries[KEYS + key] as State | undefined);
      return new KeyState(part, this.entries[key], now, undefined, counted);
    });
    const answer = decide(call, keyStates);
    this.#given.push([keys, answer.parts.map(({ at }) => at)]);
    const keep = (key: number, entry: Entry | undefined) => {
      this.entries[key] = entry === undefined || expiryOf(entry) <= now ? undefined : entry;
    };
    keyStates.forEach((keyState, i) => {
      if (keyState.keeps(call.operation)) keep(keys[i]!, keyState.entry());
      if (keyState.escalated) keep(KEYS + keys[i]!, keyState.escalation);
    });
    return answer;
  }
}

const NONE: readonly [number[], number[]] = [[], []];

/** The kinds of answers seen. */
export const seen = new Set<string>();

/** The answers of TypeScript to all turns, and the same calls for the script. */
function oneByOne(run: Run) {
  const model = new OneByOne(run);
  let now = START;
  return run.turns.map(({ move, calls: questions }) => {
    now += move;
    const calls = questions.flatMap((question) => Array<Call>(question.times).fill(model.callOf(question)));
    const alone = calls.map((call) => model.ask(call, now));
    const stored = Array.from(model.entries, (entry) => (entry === undefined ? null : packed(entry)));
    return { now, calls, alone, stored };
  });
}

/** The index of a storage key. */
const indexOf = (key: string): number =>
  key.endsWith(ESCALATION_SUFFIX) ? KEYS + Number(key.slice(0, -1)) : Number(key);

/** In place of an answer, if a key had a foreign value. */
const foreign = (error: Error): 'foreign' => {
  if (!/foreign value/.test(error.message)) throw error;
  return 'foreign';
};

/** @throws Error with the first difference */
export async function compare(redis: Redis, sha1: string, run: Run): Promise<void> {
  const names = Array.from({ length: 2 * KEYS }, () => uniqueName('batch'));
  await redis.set(names[FOREIGN]!, 'foreign');
  for (const [turn, { now, calls, alone, stored }] of oneByOne(run).entries()) {
    const pending = calls.map((call) => PendingCall.of(call));
    const batch = batchOf(pending);
    const all = written(batch, now);
    const named = { keys: all.keys.map((key) => names[indexOf(key)]!), args: all.args };
    // As on a single server, and as on a node of a cluster.
    const { keys, args } = turn % 2 === 0 ? all : undeclared(named, '');
    if (batch.groups.length < calls.length) seen.add('joined');
    const places = keys.map((key) => String(indexOf(key) + 1));
    const [reply, ...bytes] = (await redis.evalsha(
      sha1,
      names.length,
      ...names,
      String(keys.length),
      ...places,
      ...args,
    )) as [string, ...(string | null)[]];
    const promises = new Map(
      batch.groups.flatMap((group) =>
        group.calls.map((one) => {
          const answer = answers.get(one)!.catch(foreign);
          // Awaited below, except after the first difference.
          answer.catch(() => undefined);
          return [one, answer] as const;
        }),
      ),
    );
    answerCalls(batch.groups, new Numbers(Buffer.from(reply, 'hex')));
    for (const [i, call] of calls.entries()) {
      const actual = await promises.get(pending[i]!)!;
      const [mine, theirs] = [alone[i]!, actual].map(plain);
      if (mine !== theirs)
        throw new Error(`${call.operation} at ${now}: alone ${mine}, in a batch ${theirs}`);
      seen.add(
        actual === 'foreign' ? actual : actual.queued ? 'queued' : actual.allowed ? call.operation : 'denied',
      );
    }
    const kept = names.map((_, key) => (key === FOREIGN ? null : (bytes[key] ?? null)));
    const expected = kept.map((_, key) => stored[key] ?? null);
    if (JSON.stringify(kept) !== JSON.stringify(expected))
      throw new Error(`at ${now}: alone ${expected}, in a batch ${kept}`);
  }
  await redis.del(...names);
}

const plain = (observed: Observed) =>
  observed === 'foreign'
    ? observed
    : JSON.stringify([
        [observed.allowed, observed.queued, observed.now, observed.wait],
        ...observed.parts.map(({ remaining, wait, reset, at, override, blocked = 0, step = 0 }) => {
          if (step > 0) seen.add('escalated');
          return [remaining, wait, reset, at, override, blocked, step];
        }),
      ]);

/** The script, with keys given by their indices, so that a key may occur more than once; none of them ever expires. */
export const batchScript = (source: string) => `
local names, size = KEYS, tonumber(ARGV[1])
local function run(KEYS, ARGV)
${source}
end
${HEX}
local keys, args = {}, {}
for i = 1, size do keys[i] = names[tonumber(ARGV[1 + i])] end
for i = size + 2, #ARGV do args[i - size - 1] = ARGV[i] end
-- As a client that takes bytes gets it.
local observed = { hex(cmsgpack.pack(run(keys, args))) }
for i = 1, #names do
  observed[i + 1] = hex(redis.call('GET', names[i]))
  redis.call('PERSIST', names[i])
end
return observed`;
