import fc from 'fast-check';
import { history, questionsOf, rates } from '../../../../../tests/correctness/differential/histories.js';
import { policies } from '../../../../../tests/correctness/differential/policies.js';
import { runs } from '../../../../../tests/support/runs.js';
import { type Call, KeyCall } from '../../call/call.js';
import { ManualClock } from '../../clock.js';
import { memoryStore } from './memory-store.js';

test.each(Object.entries(policies))(
  '%s: deciding in place yields the same answers, ranks and evictions',
  (_, policy) => {
    fc.assert(
      fc.property(
        fc.tuple(policy, policy),
        questionsOf([...rates, ...Array(10).fill('consume')]),
        fc.array(fc.nat(3), { minLength: 20, maxLength: 20 }),
        ([first, second], questions, keys) => {
          const clock = new ManualClock();
          const one = memoryStore({ clock, maxKeys: 2 });
          const other = memoryStore({ clock, maxKeys: 2 });
          for (const [i, { timed }] of history([[first], [second]], questions).entries()) {
            clock.set(timed.now);
            const { operation, wait, overrides } = timed.call;
            const part = { ...timed.call.parts[0]!, key: `key-${keys[i]}` };
            const { limit, key, cost, at, booking } = part;
            const call: Call = { operation, wait, parts: [part], overrides };
            const keyCall = new KeyCall(
              operation,
              wait,
              limit,
              key,
              cost,
              at,
              undefined,
              false,
              overrides,
              booking,
            );
            expect(one.decide(keyCall)).toEqual(other.decide(call));
            expect(one.size).toBe(other.size);
          }
        },
      ),
      runs(200),
    );
  },
);
