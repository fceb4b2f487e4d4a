import type { Call } from '../../../packages/core/src/call/call.js';
import type { OpenKeys } from '../../../packages/entries/src/entry-table.js';
import type { KeptTurn } from '../server.js';
import type { InvariantOf } from './invariant.js';

/** A denial of several policies takes nothing from any of them. */
export const deniedCallsTakeNothing: InvariantOf = ({ broken }) => ({
  keeping(turn) {
    const denied = turn.decided.map(
      ({ call, answer }) => !answer.allowed && call.operation === 'consume' && call,
    );
    const [first] = denied;
    if (!first || first.parts.length === 1 || denied.some((call) => !call || call.parts.length === 1)) return;
    const { open, process } = turn;
    const after = { ...open, entries: new Map(open.entries) };
    for (const one of turn.changed) {
      if (one.entry === undefined) after.entries.delete(one.key);
      else after.entries.set(one.key, one);
    }
    const [before, now] = [remaining(turn, open, first), remaining(turn, after, first)];
    if (before !== now)
      broken(`${process.name}: a denial of ${first.parts[0]!.limit.name} left ${now} of ${before}`);
  },
});

/** The permits that are left of each policy, as text. */
const remaining = ({ process }: KeptTurn, open: OpenKeys, { parts }: Call): string =>
  parts
    .map(({ limit, key }) => {
      const part = { limit, key, cost: 1, at: 0 };
      const peek = { operation: 'peek', wait: 0, parts: [part] } as const;
      return new process.product.DecidedTurn(open).decide(peek).parts[0]!.remaining;
    })
    .join(' and ');
