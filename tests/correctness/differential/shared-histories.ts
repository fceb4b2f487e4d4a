import fc from 'fast-check';
import { ANY } from '../../../packages/core/src/algorithms/algorithm.js';
import { slidingLogAlgorithm } from '../../../packages/core/src/algorithms/sliding-log/sliding-log.js';
import type { Call, Operation } from '../../../packages/core/src/call/call.js';
import type { RateChange } from '../../../packages/core/src/stores/shared-rate.js';
import { limitOf } from '../../support/limit-of.js';
import { START } from '../../support/timeline.js';
import { HOUR } from './policies.js';
import { KEYS, SharedModel, type Step } from './shared-replay.js';

const moves = fc.oneof(
  { weight: 6, arbitrary: fc.nat(200_000) },
  { weight: 2, arbitrary: fc.nat(HOUR) },
  { weight: 1, arbitrary: fc.integer({ min: -HOUR, max: 0 }) },
  { weight: 1, arbitrary: fc.constant(0) },
);
/** ms */
const span = fc.oneof(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: HOUR / 1000 }));
export const rates = fc
  .record({
    limit: fc.integer({ min: 1, max: 12 }),
    window: span,
    more: span,
    perClient: fc.constantFrom(0, 0, 1),
    slots: fc.constantFrom(undefined, undefined, 1, 3),
  })
  .map(({ limit, window, more, perClient, slots }) => ({
    keepAlive: (window + more) * 1000,
    perClient: perClient as 0 | 1,
    parameters: [limit, window * 1000, ...(slots === undefined ? [] : [Math.ceil((window * 1000) / slots)])],
  }));

const changes = fc.record({
  move: moves,
  action: fc.constantFrom<RateChange['action']>(
    'try',
    'try',
    'set',
    'update',
    'update',
    'update',
    'get',
    'delete',
  ),
  rate: rates,
});
const decisions = fc.record({
  move: moves,
  operation: fc.constantFrom<Operation>(
    'consume',
    'acquire',
    'acquire',
    'acquire',
    'peek',
    'refund',
    'refund',
    'charge',
    'reset',
  ),
  cost: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: 14 })),
  wait: fc.oneof(fc.constant(0), fc.nat(1_000_000), fc.nat(HOUR)),
  client: fc.constantFrom('a' as const, 'b' as const),
  given: fc.nat(12),
});
export const histories = fc.array(
  fc.oneof({ weight: 1, arbitrary: changes }, { weight: 4, arbitrary: decisions }),
  {
    minLength: 1,
    maxLength: 25,
  },
);
type Question = typeof histories extends fc.Arbitrary<(infer Q)[]> ? Q : never;

const rule = { algorithm: slidingLogAlgorithm, parameters: [], limit: 0, window: 0 };

/** A rate is set; then it is used and changed. */
export function history(
  first: RateChange['rate'],
  questions: readonly Question[],
  seen = new Set<string>(),
): Step[] {
  const model = new SharedModel();
  const given: number[] = [];
  let now = START;
  let deleted = false;
  const settings = [START];
  const set = model.ask({ now, ask: { action: 'set', key: KEYS[3], rate: first! } });
  const rest = questions.map((question) => {
    now += question.move;
    if ('action' in question) {
      const { action, rate } = question;
      // Redis marks a setting by its moment. A script takes longer than a µs, so no two settings of a real server have the same one.
      const sets = action === 'try' || action === 'set';
      if (sets && deleted && settings.some((moment) => Math.abs(now - moment) <= questions.length))
        now = Math.max(...settings) + questions.length + 1;
      if (sets) settings.push(now);
      deleted = action === 'delete' || (deleted && !sets);
      const change = { action, key: KEYS[3] };
      const step = model.ask({
        now,
        ask: action === 'get' || action === 'delete' ? change : { ...change, rate },
      });
      seen.add(`${action} ${step.alive === undefined ? 'none' : 'one'}`);
      return step;
    }
    const { operation, cost, wait, client, given: which } = question;
    const at = given[which % (given.length + 1)] ?? (which % 2 === 0 ? ANY : START);
    const shared = { name: 'twin', config: KEYS[3], client };
    const call: Call = {
      operation,
      wait,
      parts: [{ limit: { ...limitOf(rule), shared }, key: KEYS[0], cost, at }],
    };
    const step = model.ask({ now, ask: call });
    const { answer } = step;
    if (answer?.allowed && (operation === 'consume' || operation === 'acquire'))
      given.push(answer.parts[0]!.at);
    seen.add(
      answer === undefined ? 'not set' : !answer.allowed ? 'denied' : answer.wait > 0 ? 'booked' : operation,
    );
    return step;
  });
  return [set, ...rest];
}
