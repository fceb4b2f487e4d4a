import fc from 'fast-check';
import { history, questionsOf, rates } from '../../../../tests/correctness/differential/histories.js';
import { conformances } from '../../../../tests/support/conformance/all.js';
import { runs } from '../../../../tests/support/runs.js';
import { CELL_NUMBERS, Cell } from '../algorithms/algorithm.js';
import { decideBare } from './bare.js';
import { decide } from './decide.js';
import { type Entry, isEnvelope } from './entry.js';
import { KeyState } from './key-state.js';

const policies = conformances.flatMap(({ random, holds, inPlace }) =>
  Object.entries(random).map(([name, policy]) => ({ name, policy, holds, inPlace })),
);

test.each(policies)('$name: the short path decides like the general path', ({ policy, holds }) => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(fc.tuple(policy, policy), questionsOf(rates), ([first, second], questions) => {
      let entry: Entry | undefined;
      for (const { timed } of history([[first], [second]], questions)) {
        const { now, call } = timed;
        const [part] = call.parts;
        const keyState = new KeyState(part!, entry, now);
        const answer = decide(call, [keyState]);
        const bare = decideBare(call, entry, now);
        if (bare !== undefined) {
          expect(bare).toEqual({
            answer,
            state: keyState.entry(),
            changed: keyState.keeps(call.operation),
          });
          seen.add(`${call.operation} ${answer.allowed}`);
        }
        if (keyState.keeps(call.operation)) entry = keyState.entry();
      }
    }),
    runs(300),
  );
  const each = ['consume true', 'consume false', 'peek true', 'peek false', 'acquire true'];
  const expected = holds ? ['peek false', 'peek true'] : expect.arrayContaining(each);
  expect([...seen].sort()).toEqual(expected);
});

/** Operations that mostly keep a plain state. */
const plain = ['consume', 'consume', 'consume', 'charge', 'refund'] as const;

test.each(policies)(
  '$name: a call that is decided in place decides like the general path',
  ({ policy, inPlace }) => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.tuple(policy, policy), questionsOf(plain), ([first, second], questions) => {
        let entry: Entry | undefined;
        for (const { timed } of history([[first], [second]], questions)) {
          const { now, call } = timed;
          const [part] = call.parts;
          const { rule } = part!.limit;
          const keyState = new KeyState(part!, entry, now);
          const answer = decide(call, [keyState]);
          const step = rule.algorithm.speed?.step;
          if (
            step !== undefined &&
            call.operation === 'consume' &&
            entry !== undefined &&
            !isEnvelope(entry) &&
            entry.length <= CELL_NUMBERS
          ) {
            const cell = new Cell();
            cell.numbers = new Float64Array(8).fill(7);
            cell.numbers.set(entry, 2);
            cell.at = 2;
            cell.length = entry.length;
            const parameters = rule.parametersAt?.(now) ?? rule.parameters;
            const done = step(parameters, cell, now, part!.cost);
            const state = cell.read();
            expect([...cell.numbers.subarray(0, 2), ...cell.numbers.subarray(6)]).toEqual([7, 7, 7, 7]);
            if (done) {
              const { wait, remaining, reset } = cell;
              expect(answer).toMatchObject({
                allowed: wait === 0,
                wait,
                parts: [{ wait, remaining, reset }],
              });
              expect(answer.parts[0]!.at).toBe(wait === 0 ? now : 0);
              expect(keyState.keeps('consume')).toBe(wait === 0);
              expect(state).toEqual(keyState.keeps('consume') ? keyState.entry() : entry);
              seen.add(`consume ${answer.allowed}`);
            } else {
              expect(state).toEqual(entry);
            }
          }
          if (keyState.keeps(call.operation)) entry = keyState.entry();
        }
      }),
      runs(300),
    );
    const each = inPlace ? ['consume false', 'consume true'] : [];
    expect([...seen].sort()).toEqual(each);
  },
);
