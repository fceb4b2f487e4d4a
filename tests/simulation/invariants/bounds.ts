import { ANY } from '../../../packages/core/src/algorithms/algorithm.js';
import type { Part } from '../../../packages/core/src/call/call.js';
import type { Admitted } from '../../correctness/race/judge.js';
import { EPOCH } from '../globals.js';
import type { Kept } from '../server.js';
import type { InvariantOf } from './invariant.js';

/** Permits that the store gave. Moments are µs of its clock. */
interface Grant extends Admitted {
  cost: number;
  readonly at: number;
}

/** What one key of a policy gave from one loss, jump or reset to the next. */
interface Period {
  readonly grants: Grant[];
  /** Permits from before that were given back in it: a store that has lost them cannot know. */
  foreign: number;
}

const TAKES: readonly string[] = ['consume', 'acquire'];

/** docs/reliability.md and docs/clocks.md: never more than the limit by the store's clock, and one limit more for each loss and each jump. */
export const neverAboveTheLimit: InvariantOf = ({ settings, broken }) => {
  const periods = new Map<string, Period[]>();
  const eras = new Map<string, number>();
  /** Keys that a bucket gives back to while they are overridden: it cannot know whether its own count had those permits. */
  const unsure = new Set<string>();

  const take = (own: string, period: Period, part: Part, { answer }: Kept, i: number) => {
    const { at, override, reset } = answer.parts[i]!;
    if (override !== undefined) unsure.add(own);
    else if (part.cost > 0)
      period.grants.push({ moment: at, at, cost: part.cost, whole: answer.now + reset });
  };
  const giveBack = (period: Period, { at, cost }: Part, now: number) => {
    let left = cost;
    for (const grant of [...period.grants].reverse()) {
      if (at === ANY ? grant.moment > now : grant.at !== at) continue;
      const back = Math.min(left, grant.cost);
      grant.cost -= back;
      left -= back;
    }
    if (at !== ANY) period.foreign += left;
  };

  return {
    kept(kept) {
      const { call, answer, era } = kept;
      call.parts.forEach((part, i) => {
        const own = `${part.limit.name} ${part.key}`;
        const all = periods.get(own) ?? [];
        periods.set(own, all);
        if (eras.get(own) !== era || call.operation === 'reset') all.push({ grants: [], foreign: 0 });
        eras.set(own, era);
        const period = all.at(-1)!;
        if (TAKES.includes(call.operation) && answer.allowed) take(own, period, part, kept, i);
        else if (call.operation === 'refund') giveBack(period, part, answer.now);
      });
    },
    calm() {
      for (const { limit } of settings) {
        for (const [name, { judge, limit: most, isBucket }] of Object.entries(limit.rules)) {
          if (judge === undefined || limit.prefetch !== undefined) continue;
          for (const key of ['a', 'b']) {
            const own = `${name} ${key}`;
            if (isBucket && unsure.has(own)) continue;
            for (const { grants: all, foreign } of periods.get(own) ?? []) {
              const grants = all.filter(({ cost }) => cost > 0).sort((a, b) => a.moment - b.moment);
              const wrong = judge(most + foreign)(relative(grants));
              if (wrong !== undefined) broken(`${own}: ${wrong}`, `${limit.name} ${key}`);
            }
          }
        }
      }
    },
  };
};

/** Readable moments: ten thousand seconds more than those of the story, so that none is negative if the clock goes back. */
const ORIGIN = (EPOCH - 10_000_000) * 1000;

const relative = (grants: readonly Grant[]): readonly Admitted[] =>
  grants.map(({ moment, cost, whole }) => ({ moment: moment - ORIGIN, cost, whole: whole - ORIGIN }));
