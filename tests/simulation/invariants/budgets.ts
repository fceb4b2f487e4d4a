import { RECORD_HEAD } from '../../../packages/core/src/algorithms/hold/hold.js';
import { HoldLog } from '../../correctness/race/meter/judge-of-holds.js';
import { type Entry, sentOf } from '../../correctness/race/meter/recording.js';
import { BUDGET, BUDGET_RULES, TTL } from '../budget.js';
import type { Kept } from '../server.js';
import type { InvariantOf } from './invariant.js';

/** What the server has kept of all holds, before it lost anything and its clock jumped. */
class Books {
  readonly #entries: Entry[] = [];
  /** How often each id was new: once its record is forgotten, the same caller may use it for another hold. */
  readonly #uses = new Map<string, number>();

  add({ call, answer, era }: Kept): void {
    if (era > 0 || (call.operation !== 'hold' && call.operation !== 'settle')) return;
    const { now, allowed, parts } = answer;
    const n = this.#entries.length;
    const { before, after } = parts[0]!.trace!;
    const given = sentOf(call);
    const uses = (this.#uses.get(given.hold) ?? 0) + (before === undefined ? 1 : 0);
    this.#uses.set(given.hold, uses);
    const hold = `${given.hold}, use ${uses}`;
    const amounts = after?.slice(RECORD_HEAD) ?? [];
    this.#entries.push({ n, ...given, hold, sent: now }, { n, now, allowed, amounts });
  }

  get log(): HoldLog {
    return new HoldLog([this.#entries], TTL * 1000);
  }
}

const about = `${BUDGET.limit.name} a`;

/** docs/budgets.md: what was settled and what live holds hold is within the limit, at every moment. */
export const neverAboveTheBudget: InvariantOf = ({ broken }) => {
  const books = new Books();
  return {
    kept: (kept) => books.add(kept),
    calm() {
      const { log } = books;
      for (const [axis, rule] of Object.entries(BUDGET_RULES)) {
        const { sum, moment } = log.mostOf(`${axis} a`, rule);
        if (sum > rule.limit)
          broken(`${sum} of ${rule.limit} of ${axis} were held or used at ${moment}`, about);
      }
    },
  };
};

/** docs/budgets.md: a repeated call changes nothing, so each amount counts once, also after a lost reply. */
export const everyAmountCountsOnce: InvariantOf = ({ world, broken }) => {
  const books = new Books();
  let used = 0;
  return {
    kept(kept) {
      books.add(kept);
      const { call, answer } = kept;
      call.parts.forEach(({ limit }, i) => {
        const trace = answer.parts[i]!.trace;
        if (limit.name !== `${BUDGET.limit.name}:usd` || trace === undefined) return;
        const view = limit.rule.algorithm.figures.view(trace.parameters, trace.after, answer.now);
        used = view.kind === 'window' ? view.used : 0;
      });
    },
    calm() {
      if (world.server.era > 0) return;
      const { from, to } = books.log.usedOf('usd a');
      if (used < from || used > to)
        broken(`${used} are used, and the calls have used ${from} to ${to}`, about);
    },
  };
};
