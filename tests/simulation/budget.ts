import type { Hold, Meter } from '../../packages/meter/src/index.js';
import type { Rule } from '../correctness/race/meter/judge-of-holds.js';
import type { Calls, Kind, UserCall } from './calls.js';
import type { Product } from './instance.js';
import type { Member, Settings, World } from './world.js';

const MS = 1000;

/** One fleet in three has a budget. */
const EACH = 3;
export const hasBudget = (seed: number): boolean => seed % EACH === 0;

/** The shortest time to live of a hold, ms. */
export const TTL = 1_000;

/** The promise of each axis. */
export const BUDGET_RULES: Readonly<Record<'usd' | 'output' | 'running', Rule>> = {
  usd: { limit: 60, kind: 'whole' },
  output: { limit: 12, kind: 'sliding', window: 1_000 * MS },
  running: { limit: 3, kind: 'running' },
};

/** Its calls have the settings of a limiter without rules of its own. */
export const BUDGET: Settings = {
  limit: { name: 'budget', rules: {} },
  deadline: 60,
  denyCache: 0,
  failurePolicy: 'deny',
  margin: 0,
};

export const budgetOf = (
  { meter, fixedWindow, slidingLog, concurrency }: Product,
  store: Member['store'],
): Meter<string, 'usd' | 'output' | 'running'> => {
  const { usd, output, running } = BUDGET_RULES;
  return meter({
    name: BUDGET.limit.name,
    store,
    axes: {
      usd: fixedWindow({ limit: usd.limit, window: '1h' }),
      output: slidingLog({ limit: output.limit, window: '1s' }),
      running: concurrency({ limit: running.limit }),
    },
    ttl: TTL,
    deadline: BUDGET.deadline,
  });
};

/** Callers of one process that hold, stream and settle. */
export class Spenders {
  constructor(
    private readonly world: World,
    private readonly calls: Calls,
    private readonly member: Member,
  ) {}

  plan(count: number, until: number): void {
    for (let left = count; left > 0; left -= 1)
      this.member.process.receive(this.world.dice(until), () => void this.#stream());
  }

  #run<T>(
    kind: Kind,
    work: () => Promise<T>,
  ): Promise<{ readonly call: UserCall; readonly result?: T | undefined }> {
    const { member } = this;
    // A call whose reply was lost is sent once more. Both have timers of whole ms.
    const bound = 2 * (BUDGET.deadline + 3) * MS;
    return this.calls.run({ kind, member, settings: BUDGET, key: 'a', cost: 1, bound }, work);
  }

  #after(ms: number): Promise<void> {
    const { process } = this.member;
    return new Promise((resolve) => process.receive(process.now + this.world.dice(ms * MS), resolve));
  }

  async #stream(): Promise<void> {
    const { world, member } = this;
    const dice = (below: number) => world.dice(below);
    const lapse = dice(2) === 0 ? 'keep' : 'refund';
    const shared =
      dice(5) === 0 ? { id: `shared ${dice(3)}` } : { id: `${member.process.name} ${world.scheduler.now}` };
    // A hold of 0 would begin before the window of its first amount: see decision 036.
    const amounts = { usd: 1 + dice(5), output: 1 + dice(4) };
    const begin = () => member.budget!.hold('a', amounts, { ...shared, lapse });
    let { call, result: hold } = await this.#run('hold', begin);
    // Whether it has begun is not known: the same call, once more.
    if (member.process.product.isStoreUnavailableError(call.error))
      ({ call, result: hold } = await this.#run('hold', begin));
    if (hold === undefined) return;
    for (let steps = dice(4); steps > 0; steps -= 1) {
      await this.#after(400);
      const step = dice(3);
      await this.#run('more', () =>
        step === 0 ? hold.renew() : hold.more({ usd: dice(3), output: dice(3) }),
      );
    }
    await this.#after(500);
    await this.#end(hold);
  }

  async #end(hold: Hold): Promise<void> {
    const how = this.world.dice(10);
    if (how === 0) return; // its caller forgets it
    const { usd, output } = hold.amounts as { usd: number; output: number };
    const most = how === 1 ? 2 : 1;
    const used = { usd: this.world.dice(most * usd + 1), output: this.world.dice(most * output + 1) };
    for (let times = 3; times > 0; times -= 1) {
      const end = async () => void (await (how === 2 ? hold.cancel() : hold.settle(used)));
      const { call } = await this.#run('settle', end);
      if (!this.member.process.product.isStoreUnavailableError(call.error)) return;
    }
  }
}
