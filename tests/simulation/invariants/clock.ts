import { limiterOf } from '../limits.js';
import type { InvariantOf } from './invariant.js';

/** A table reads its clock when it has the locks: so it never runs backwards for a key, unless it jumps. */
export const timeNeverRunsBack: InvariantOf = ({ world, broken }) => {
  if (world.kind !== 'locks') return {}; // two swaps that change nothing have no order
  const lasts = new Map<string, { readonly era: number; readonly now: number }>();
  return {
    kept({ call, answer: { now }, era, process }) {
      for (const { limit, key } of call.parts) {
        const name = `${limit.name} ${key}`;
        const last = lasts.get(name);
        if (last !== undefined && last.era === era && now < last.now)
          broken(
            `${process.name}: ${call.operation} ${name} was decided ${last.now - now} µs before an earlier call`,
            `${limiterOf(limit.name)} ${key}`,
          );
        if (last === undefined || era > last.era || now > last.now) lasts.set(name, { era, now });
      }
    },
  };
};
