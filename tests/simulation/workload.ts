import type { Decision } from '../../packages/core/src/index.js';
import { type Calls, isHeld, type Kind, type UserCall } from './calls.js';
import { LIMITS } from './limits.js';
import type { Member, Settings, World } from './world.js';

const MS = 1000;
/** When callers begin to wait for calm, µs. Faults end soon after. */
export const STORM = 4_000 * MS;

/** The set-up of a run: the same limiters in each process. */
export function settingsOf(world: World): readonly Settings[] {
  const limits = [...LIMITS].sort(() => world.random() - 0.5).slice(0, 3);
  return limits.map((limit) => ({
    limit,
    deadline: 20 + world.dice(80),
    denyCache: world.pick([0, 100, 1000, 1000]),
    failurePolicy: world.pick(['local', 'allow', 'deny', { local: { share: 0.5 } }] as const),
    margin: world.pick([0, 0, 10]),
  }));
}

/** The callers of one process. */
export class Callers {
  /** Calls that took permits, and have not given them back. */
  readonly #taken: UserCall[] = [];

  constructor(
    private readonly world: World,
    private readonly calls: Calls,
    private readonly member: Member,
    private readonly settings: readonly Settings[],
  ) {}

  /** Plans the calls of a run. */
  plan(count: number): void {
    const { world, member } = this;
    for (let left = count; left > 0; ) {
      const moment = world.dice(STORM);
      const together = world.dice(4) === 0 ? 1 + world.dice(6) : 1;
      const settings = world.pick(this.settings);
      for (let i = 0; i < together; i += 1, left -= 1)
        member.process.receive(moment, () => this.#call(settings));
    }
  }

  #call(settings: Settings): void {
    const { world } = this;
    const { limit } = settings;
    const busy = limit.prefetch !== undefined;
    const key = world.dice(4) === 0 ? 'b' : 'a';
    const cost = world.dice(5) === 0 ? 2 : 1;
    const dice = world.dice(100);
    if (dice < 55 || busy) {
      for (let i = busy ? 4 : 1; i > 0; i -= 1) this.consume(settings, key, cost);
      if (!busy || dice < 90) return;
    }
    if (dice < 78) this.#acquire(settings, key, 1);
    else if (dice < 88) this.#giveBack();
    else if (dice < 92 && !isHeld(limit)) void this.#reserve(settings, key);
    else this.#change(settings, key);
  }

  consume(settings: Settings, key: string, cost: number): void {
    const work = () => this.#limiter(settings).consume(key, { cost });
    void this.#keep(this.#run('consume', settings, key, cost, work, 1, (decision) => decision));
  }

  #limiter({ limit }: Settings) {
    return this.member.limiters.get(limit.name)!;
  }

  async #run<T>(
    kind: Kind,
    settings: Settings,
    key: string,
    cost: number,
    work: () => Promise<T>,
    trips: number,
    decisionOf?: (result: T) => Decision,
    more = 0,
  ): Promise<{ readonly call: UserCall; readonly result: T | undefined }> {
    const bound = (trips * settings.deadline + more) * MS;
    const call = { kind, member: this.member, settings, key, cost, bound };
    return this.calls.run(call, work, decisionOf);
  }

  /** Keeps what a call took, to give it back some time. */
  async #keep(called: Promise<{ readonly call: UserCall }>): Promise<void> {
    const { call } = await called;
    if (call.decision?.allowed) this.#taken.push(call);
  }

  #acquire(settings: Settings, key: string, cost: number): void {
    const { world } = this;
    const timeout = 1 + world.dice(world.pick([60, 1_500]));
    const stop = world.dice(3) === 0 ? new AbortController() : undefined;
    if (stop !== undefined) {
      const { process } = this.member;
      process.receive(process.now + world.dice(timeout * MS), () => {
        world.story.note(process.name, `aborts acquire ${settings.limit.name} ${key}`);
        stop.abort(new Error('aborted'));
      });
    }
    const signal = stop === undefined ? {} : { signal: stop.signal };
    const work = () => this.#limiter(settings).acquire(key, { cost, timeout, ...signal });
    void this.#keep(this.#run('acquire', settings, key, cost, work, 4, (decision) => decision, timeout));
  }

  async #reserve(settings: Settings, key: string): Promise<void> {
    const { process } = this.member;
    const work = () => this.#limiter(settings).reserve(key, 2);
    const { call, result } = await this.#run(
      'consume',
      settings,
      key,
      2,
      work,
      1,
      ({ decision }) => decision,
    );
    if (result === undefined) return;
    call.returned = true;
    process.receive(process.now + this.world.dice(500 * MS), () => {
      const actual = this.world.dice(4);
      const settle = () => (actual === 3 ? result.cancel() : result.settle(actual));
      void this.#run(actual === 3 ? 'cancel' : 'settle', settings, key, 1, settle, 2);
    });
  }

  /** Gives back what some call took. */
  #giveBack(): void {
    const taken = this.#taken;
    if (taken.length === 0) return;
    const [call] = taken.splice(this.world.dice(taken.length), 1);
    this.#return(call!);
  }

  #return(call: UserCall): void {
    const { settings, key, cost } = call;
    call.returned = true;
    const twice = this.world.dice(4) === 0 ? 2 : 1;
    for (let i = 0; i < twice; i += 1) {
      const work = () => this.#limiter(settings).refund(call.decision!);
      void this.#run('refund', settings, key, cost, work, 1);
    }
  }

  /** Ends all that is held, and is not given back by itself. */
  releaseAll(): void {
    for (const call of this.#taken) if (isHeld(call.settings.limit)) this.#return(call);
  }

  /** Looks at every key. */
  peekAll(): void {
    for (const settings of this.settings) {
      for (const key of ['a', 'b']) {
        const work = () => this.#limiter(settings).peek(key);
        void this.#run('peek', settings, key, 1, work, 1, (decision) => decision);
      }
    }
  }

  /** An operator changes a key. */
  #change(settings: Settings, key: string): void {
    const { world } = this;
    const limiter = this.#limiter(settings);
    const lasts = 50 + world.dice(900);
    const { product } = this.member.process;
    const [name, rule] = Object.entries(settings.limit.rules)[0]!;
    const policy = rule.make(product, 1 + world.dice(2 * rule.limit));
    const several = Object.keys(settings.limit.rules).length > 1;
    const changes: readonly (readonly [Kind, () => Promise<void>])[] = [
      ['block', () => limiter.block(key, lasts)],
      ['unblock', () => limiter.unblock(key)],
      ['override', () => limiter.override(key, several ? { [name]: policy } : policy, { expiresIn: lasts })],
      ['override', () => limiter.override(key, several ? { [name]: policy } : policy, { expiresIn: lasts })],
      ['removeOverride', () => limiter.removeOverride(key)],
      ['reset', () => limiter.reset(key)],
      ...(isHeld(settings.limit)
        ? []
        : ([
            ['penalty', () => limiter.penalty(key, 1)],
            ['reward', () => limiter.reward(key, 1)],
          ] as const)),
    ];
    const [kind, work] = world.pick(changes);
    void this.#run(kind, settings, key, 1, work, 1);
  }
}
