import fc from 'fast-check';
import { history, questionsOf, rates } from '../../../../tests/correctness/differential/histories.js';
import { policies } from '../../../../tests/correctness/differential/policies.js';
import { runs } from '../../../../tests/support/runs.js';
import { decideBare } from './bare.js';
import { decide } from './decide.js';
import type { Entry } from './entry.js';
import { Lane } from './key-state.js';

test.each(Object.entries(policies))(
  '%s: a call decided the short way is decided as all calls are',
  (name, policy) => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(fc.tuple(policy, policy), questionsOf(rates), ([first, second], questions) => {
        let entry: Entry | undefined;
        for (const { asked } of history([[first], [second]], questions)) {
          const { now, call } = asked;
          const [part] = call.parts;
          const lane = new Lane(part!, entry, now);
          const answer = decide(call, [lane], now);
          const bare = decideBare(call, entry, now);
          if (bare !== undefined) {
            expect(bare).toEqual({ answer, state: lane.entry(), changed: lane.keeps(call.operation) });
            seen.add(`${call.operation} ${answer.allowed}`);
          }
          if (lane.keeps(call.operation)) entry = lane.entry();
        }
      }),
      runs(300),
    );
    const each = ['consume true', 'consume false', 'peek true', 'peek false', 'acquire true'];
    expect([...seen].sort()).toEqual(name === 'concurrency' ? [] : expect.arrayContaining(each));
  },
);
