import fc from 'fast-check';
import { ANY, JITTER, type Policy, type Rule } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Escalation } from '../../../packages/core/src/algorithms/escalate-options.js';
import { compilePolicy } from '../../../packages/core/src/algorithms/index.js';
import type { Answer, Call, Operation } from '../../../packages/core/src/call/call.js';
import { limitOf } from '../../support/limit-of.js';
import { START } from '../../support/timeline.js';
import { HOUR } from './policies.js';
import { type Expected, Model, type Observed, type TimedCall } from './replay.js';

/**
 * How far the clock moves: mostly by a part of the time in which a permit comes back, so that calls queue; sometimes far, sometimes back,
 * or only by its jitter; or to a moment that the last answer named, or just beside it.
 */
const movesOf = (pace: number) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ percent: fc.oneof(fc.constant(0), fc.nat(pace)) }) },
    { weight: 2, arbitrary: fc.nat(200_000) },
    { weight: 1, arbitrary: fc.nat(HOUR) },
    {
      weight: 1,
      arbitrary: fc.oneof(
        fc.integer({ min: -HOUR, max: 0 }),
        fc.integer({ min: -JITTER, max: 0 }),
        fc.constantFrom(-1, -JITTER, -JITTER - 1),
      ),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        to: fc.constantFrom('wait', 'reset', 'lasts'),
        off: fc.constantFrom(-1, 0, 0, 1),
      }),
    },
  );
type Move = ReturnType<typeof movesOf> extends fc.Arbitrary<infer M> ? M : never;

const LARGEST = Number.MAX_SAFE_INTEGER;
const ratesCosts = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 3 }) },
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 14 }) },
  {
    weight: 1,
    arbitrary: fc.oneof(fc.integer({ min: LARGEST - 3, max: LARGEST }), fc.integer({ min: 0, max: LARGEST })),
  },
);

export const taking: readonly Operation[] = ['consume', 'consume', 'acquire', 'acquire', 'peek', 'refund'];
export const rates: readonly Operation[] = [...taking, 'refund', 'charge', 'block', 'override', 'reset'];
export const held: readonly Operation[] = [...taking, 'refund', 'renew', 'renew', 'reset', 'block'];

/** Many calls that may be denied. */
export const denied: readonly Operation[] = [...Array<Operation>(6).fill('consume'), ...rates];
export const deniedHolders: readonly Operation[] = [...Array<Operation>(6).fill('consume'), ...held];

/** True one time in four. */
export const sometimes = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

/** Calls of holders are close together and small, so that others wait for them. */
export const questionsOf = (
  operations: readonly Operation[],
  holding = operations === held || operations === deniedHolders,
) =>
  fc.array(
    fc.record({
      move: movesOf(holding ? 30 : 150),
      operation: fc.constantFrom(...operations),
      cost: holding ? fc.nat(3) : ratesCosts,
      /** The cost of each policy, if costs differ. */
      costs: sometimes(fc.array(fc.nat(holding ? 3 : 6), { minLength: 4, maxLength: 4 })),
      wait: fc.oneof(fc.constant(0), fc.nat(1_000_000), fc.nat(HOUR), fc.constant(10 * HOUR)),
      booking: sometimes(
        fc.record({ margin: fc.nat(1_000_000), gap: fc.nat(1_000_000), maxWaiting: fc.nat(10) }),
      ),
      /** The earlier call that a refund or renewal names; sometimes none. */
      given: fc.nat(12),
      /** The policy in force: a deploy may have changed it. */
      policy: fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 1),
    }),
    { minLength: 1, maxLength: 20, size: 'max' },
  );
type Drawn = ReturnType<typeof questionsOf> extends fc.Arbitrary<(infer Q)[]> ? Q : never;
export type Question = Omit<Drawn, 'costs' | 'booking'> & Partial<Pick<Drawn, 'costs' | 'booking'>>;

/** The parameters that a limiter sends to override with a policy. */
export const overridingWith = (rule: Rule) => rule.calendar?.head ?? rule.parameters;

/** One step of a history: a call, and its answer in TypeScript. */
export interface Step {
  readonly timed: TimedCall;
  readonly expected: Expected;
}

function micros(
  move: Move,
  { limit, window }: Rule,
  now: number,
  last: { answer: Answer; call: Call } | undefined,
): number {
  if (typeof move === 'number') return move;
  if ('percent' in move) return Math.floor((move.percent * window) / Math.max(1, limit) / 100);
  if (last === undefined) return 0;
  const { answer, call } = last;
  const ahead = {
    wait: answer.wait,
    reset: Math.max(...answer.parts.map(({ reset }) => reset)),
    lasts: call.wait,
  };
  return Math.max(0, answer.now + ahead[move.to as keyof typeof ahead] - now + move.off);
}

/** The escalation of each policy, for each set of policies before and after a deploy. */
export type Escalations = readonly (readonly Escalation[])[];

/** The keys of a history: one for each policy, and one for its escalation. */
export const keysOf = (sets: readonly (readonly Policy[])[], escalations: Escalations): number =>
  sets[0]!.length * (escalations.length > 0 ? 2 : 1);

/** Blocks are mostly short, and denials count for long, so that some histories take several steps. */
const lengths = fc.oneof(fc.integer({ min: 1, max: 200_000 }), fc.integer({ min: 1, max: HOUR }));
const long = fc.oneof(lengths, fc.constant(HOUR), fc.constant(24 * HOUR));
const escalation: fc.Arbitrary<Escalation> = fc
  .tuple(
    fc.integer({ min: 1, max: 3 }),
    long,
    fc.nat(HOUR),
    fc.array(lengths, { minLength: 1, maxLength: 3 }),
  )
  .map(([after, within, more, blocks]) => [after, within, within + more, ...blocks]);

/** Escalations for `policies` policies, with other numbers after a deploy. */
export const escalationsOf = (policies: number): fc.Arbitrary<Escalations> => {
  const all = fc.array(escalation, { minLength: policies, maxLength: policies });
  return fc.tuple(all, all);
};

/** Makes calls. A refund names a moment of an earlier answer, so each call needs the answers before it. */
export function history(
  sets: readonly (readonly Policy[])[],
  questions: readonly Question[],
  seen = new Set<string>(),
  escalations: Escalations = [],
): Step[] {
  const rules = sets.map((set, deploy) =>
    set.map((policy, i) => Object.assign(compilePolicy(policy), { escalation: escalations[deploy]?.[i] })),
  );
  const model = new Model(keysOf(sets, escalations));
  const given: number[][] = [];
  let now = START;
  let last: { answer: Answer; call: Call } | undefined;
  return questions.map(({ move: how, operation, cost, costs, wait, booking, given: which, policy }) => {
    const move = micros(how, rules[0]![0]!, now, last);
    now += move;
    const at = given[which % (given.length + 1)];
    const reward = at === undefined && operation === 'refund';
    const parts = rules[policy % rules.length]!.map((rule, i) => ({
      limit: limitOf(rule),
      key: String(i),
      cost: costs?.[i] ?? cost,
      at: at?.[i] ?? (reward ? ANY : START),
      booking,
    }));
    const overrides = rules.at(-1)!.map(overridingWith);
    const call: Call = {
      operation,
      wait,
      parts: operation === 'renew' ? parts.slice(0, 1) : parts,
      overrides,
    };
    const expected = model.ask({ now, call });
    const { answer, changed } = expected;
    last = { answer, call };
    if ((answer.allowed || answer.queued) && (operation === 'consume' || operation === 'acquire')) {
      given.push(answer.parts.map((part) => part.at));
    }
    if (move < 0) seen.add('clock back');
    seen.add(answer.queued ? 'queued' : answer.allowed ? (answer.wait > 0 ? 'booked' : operation) : 'denied');
    if (answer.wait < 0) seen.add('never');
    for (const { step = 0 } of answer.parts) if (step > 0) seen.add(`step ${Math.min(3, step)}`);
    if (operation === 'refund' && changed) seen.add('returned');
    return { timed: { now, call }, expected };
  });
}

/** The first difference of answers or stored bytes, if any. @param lost time that has passed meanwhile, ms */
export function difference(
  history: readonly Step[],
  actual: readonly Observed[],
  lost: number,
): string | undefined {
  for (const [i, { timed, expected }] of history.entries()) {
    const { answer, stored, ttls } = actual[i]!;
    const plain = (observed: Observed) =>
      JSON.stringify({ answer: sorted(observed.answer), stored: observed.stored });
    const where = `step ${i}, ${timed.call.operation} at ${timed.now}`;
    if (plain(expected) !== plain({ answer, stored, ttls })) {
      return `${where}: TypeScript ${plain(expected)}, Lua ${plain({ answer, stored, ttls })}`;
    }
    for (const [key, ttl] of ttls.entries()) {
      // The replay has removed the key's TTL.
      if (ttl === -1 && expected.lasting[key]) continue;
      // TTLs elapse in real time, of which at most `lost` has passed.
      const due = expected.ttls[key]!;
      const least = due < 0 ? due : Math.max(0, Math.floor(due - lost));
      if (ttl > due || ttl < least) return `${where}: a TTL of ${ttl} ms, where ${due} were due`;
    }
  }
  return undefined;
}

/** As text, independent of the order of properties. */
const sorted = ({ allowed, queued, now, wait, parts }: Answer) => [
  { allowed, queued, now, wait },
  ...parts.map(({ remaining, wait, reset, at, override, blocked, step }) => {
    // The short reply to an allowed call omits the escalation.
    return { remaining, wait, reset, at, override, blocked: blocked || undefined, step: step || undefined };
  }),
];
