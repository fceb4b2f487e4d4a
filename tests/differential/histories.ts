import fc from 'fast-check';
import { ANY, type Policy } from '../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../packages/core/src/algorithms/index.js';
import type { Answer, Call, Operation } from '../../packages/core/src/decisions/call.js';
import { START } from '../support/timeline.js';
import { HOUR } from './policies.js';
import { type Asked, Model, type Told } from './replay.js';

/** How far the clock moves: mostly a little, sometimes by much, sometimes back; or to a moment that the last answer named, and just beside it. */
const moves = fc.oneof(
  { weight: 6, arbitrary: fc.nat(200_000) },
  { weight: 2, arbitrary: fc.nat(HOUR) },
  { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(0) },
  {
    weight: 4,
    arbitrary: fc.record({
      to: fc.constantFrom<'wait' | 'reset'>('wait', 'reset'),
      off: fc.constantFrom(-1, 0, 0, 1),
    }),
  },
);

const LARGEST = Number.MAX_SAFE_INTEGER;
const costs = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 14 }) },
  { weight: 1, arbitrary: fc.integer({ min: LARGEST - 3, max: LARGEST }) },
);

export const taking: readonly Operation[] = ['consume', 'consume', 'acquire', 'acquire', 'peek', 'refund'];
export const rates: readonly Operation[] = [...taking, 'refund', 'charge', 'block', 'override', 'reset'];
export const held: readonly Operation[] = [...taking, 'refund', 'renew', 'renew', 'reset', 'block'];

export const questionsOf = (operations: readonly Operation[]) =>
  fc.array(
    fc.record({
      move: moves,
      operation: fc.constantFrom(...operations),
      cost: costs,
      wait: fc.oneof(fc.constant(0), fc.nat(1_000_000), fc.nat(HOUR)),
      /** For a refund or a renewal: which of those given so far; sometimes none of them. */
      given: fc.nat(12),
      /** Which of the policies holds: a deploy may have changed it. */
      policy: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1),
    }),
    { minLength: 1, maxLength: 20 },
  );
export type Question = ReturnType<typeof questionsOf> extends fc.Arbitrary<(infer Q)[]> ? Q : never;

/** One step of a history: what is asked, and what TypeScript says to it. */
export interface Step {
  readonly asked: Asked;
  readonly expected: Told;
}

/** The moment at which the last call could pass, or all its permits are back. */
function momentOf(last: Answer | undefined, what: 'wait' | 'reset'): number {
  if (last === undefined) return 0;
  return last.now + (what === 'wait' ? last.wait : Math.max(...last.parts.map(({ reset }) => reset)));
}

/** Questions made into calls: what a refund gives back is known only when the question before it has been answered. */
export function history(
  sets: readonly (readonly Policy[])[],
  questions: readonly Question[],
  seen = new Set<string>(),
): Step[] {
  const rules = sets.map((set) => set.map(compilePolicy));
  const model = new Model(rules[0]!.length);
  const given: number[][] = [];
  let now = START;
  let last: Answer | undefined;
  return questions.map(({ move: how, operation, cost, wait, given: which, policy }) => {
    const move = typeof how === 'number' ? how : Math.max(0, momentOf(last, how.to) - now + how.off);
    now += move;
    const at = given[which % (given.length + 1)];
    const reward = at === undefined && operation === 'refund';
    const parts = rules[policy % rules.length]!.map((rule, i) => ({
      key: String(i),
      rule,
      cost,
      at: at?.[i] ?? (reward ? ANY : START),
    }));
    const call: Call = { operation, wait, parts: operation === 'renew' ? parts.slice(0, 1) : parts };
    const expected = model.ask({ now, call });
    const { answer, changed } = expected;
    last = answer;
    if ((answer.allowed || answer.queued) && (operation === 'consume' || operation === 'acquire')) {
      given.push(answer.parts.map((part) => part.at));
    }
    if (move < 0) seen.add('clock back');
    seen.add(answer.queued ? 'queued' : answer.allowed ? (answer.wait > 0 ? 'booked' : operation) : 'denied');
    if (answer.wait < 0) seen.add('never');
    if (operation === 'refund' && changed) seen.add('returned');
    return { asked: { now, call }, expected };
  });
}

/** Nothing when the script said and kept the same; otherwise what differs. `lost`: ms that have passed meanwhile. */
export function difference(
  history: readonly Step[],
  actual: readonly Told[],
  lost: number,
): string | undefined {
  for (const [i, { asked, expected }] of history.entries()) {
    const { reply, stored, ttls } = actual[i]!;
    const plain = (told: Told) => JSON.stringify({ reply: told.reply, stored: told.stored });
    const where = `step ${i}, ${asked.call.operation} at ${asked.now}`;
    if (plain(expected) !== plain({ reply, stored, ttls })) {
      return `${where}: TypeScript ${plain(expected)}, Lua ${plain({ reply, stored, ttls })}`;
    }
    for (const [key, ttl] of ttls.entries()) {
      // What is left of a TTL is told in real time, of which at most `lost` has passed.
      const due = expected.ttls[key]!;
      const least = due < 0 ? due : Math.max(0, Math.floor(due - lost));
      if (ttl > due || ttl < least) return `${where}: a TTL of ${ttl} ms, where ${due} were due`;
    }
  }
  return undefined;
}
