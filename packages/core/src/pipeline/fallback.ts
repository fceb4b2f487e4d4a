import { type Clock, systemClock } from '../clock.js';
import type { Answer, Call, Part, PartAnswer } from '../engine/call.js';
import { StoreConfigurationError, type StoreUnavailableError } from '../errors.js';
import { type MemoryStore, memoryStore } from '../stores/memory/memory-store.js';
import type { Store } from '../stores/store.js';
import type { StoreHealth } from '../stores/store-health.js';
import type { FailureChoice } from './failure-policy.js';
import type { DegradedAnswer } from './fallback-answer.js';
import { policyParts } from './policy-limit.js';

/** µs; when a store will be back is not known, and this is soon without being a flood. */
const SOON = 1_000_000;

/** What takes the place of one store while that is out, each a store itself. */
export class StandIns {
  readonly #stores: Readonly<Record<FailureChoice, Store>>;

  constructor(clock: Clock) {
    this.#stores = {
      local: new LocalStore(memoryStore({ clock })),
      allow: constant('allow', clock, true, 0),
      deny: constant('deny', clock, false, SOON),
    };
  }

  /** @throws what a function that is the failure policy throws */
  answer(call: Call, error: StoreUnavailableError): DegradedAnswer {
    const by = this.#stores[strictest(call, error)];
    return { ...(by.decide(call) as Answer), by, error };
  }

  async close(): Promise<void> {
    await this.#stores.local.close();
  }
}

/** One set for each store, so that limiters that count together do so while it is out, too. */
const made = new WeakMap<Store, StandIns>();

export function standInsOf(store: Store, health: StoreHealth): StandIns {
  let standIns = made.get(store);
  if (standIns === undefined) {
    standIns = new StandIns(store.clock ?? systemClock);
    made.set(store, standIns);
    health.whenEnded(() => standIns?.close());
  }
  return standIns;
}

/** A call with parts of several limiters is decided by the strictest of their policies; each limiter is asked once. */
function strictest(call: Call, error: StoreUnavailableError): FailureChoice {
  const limiters = new Set(policyParts(call).map(({ limit }) => limit.fallback!.choose));
  const choices = [...limiters].map((choose) => choose(error));
  return (['deny', 'local'] as const).find((choice) => choices.includes(choice)) ?? 'allow';
}

/** Counts in this process, by the numbers that the failure policies leave it. */
class LocalStore implements Store {
  readonly name = 'local';
  readonly remote = false;
  readonly slotted = false;
  readonly clock: Clock;
  readonly rate = noRates;
  readonly #memory: MemoryStore;

  constructor(memory: MemoryStore) {
    this.#memory = memory;
    this.clock = memory.clock;
  }

  decide(call: Call): Answer {
    const parts = policyParts(call).map((part) => ({ ...part, limit: part.limit.fallback!.limit }));
    const answer = this.#memory.decide({ ...call, parts });
    // Whoever asks knows the whole limit: it is told by which numbers was decided.
    const told = answer.parts.map((part, i) => ({ ...part, override: parts[i]!.limit.rule.parameters }));
    return { ...answer, parts: told };
  }

  listen(key: string, granted: (id: number) => void): Promise<() => void> {
    return this.#memory.listen(key, granted);
  }

  close(): Promise<void> {
    return this.#memory.close();
  }
}

/** Says the same to everybody, and counts nothing. */
function constant(name: 'allow' | 'deny', clock: Clock, allowed: boolean, wait: number): Store {
  const told = ({ limit: { rule } }: Part): PartAnswer => ({
    remaining: allowed ? rule.limit : 0,
    wait,
    reset: wait,
    at: 0,
    override: undefined,
  });
  return {
    name,
    remote: false,
    slotted: false,
    clock,
    decide: ({ parts }) => ({ allowed, queued: false, now: clock.now(), wait, parts: parts.map(told) }),
    listen: async () => () => {},
    rate: noRates,
    close: async () => {},
  };
}

const noRates = (): Promise<never> =>
  Promise.reject(new StoreConfigurationError('A shared rate is nowhere but in its store'));
