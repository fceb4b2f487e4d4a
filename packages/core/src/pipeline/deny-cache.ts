import type { Answer, Operation } from '../engine/call.js';
import type { CallBudget, Store } from '../stores/store.js';
import { around } from './around.js';
import { type Asking, ask, Passing, pass } from './asking.js';
import { type Denial, Denials, Loosenings } from './denials.js';
import { alike, isDegraded } from './fallback-answer.js';
import { answerInTurn } from './turns.js';

/** What lets a key pass sooner than a denial said. */
const LOOSENS: readonly Operation[] = ['refund', 'block', 'override', 'reset'];

/** One for each store, whichever limiters ask it. */
const known = new WeakMap<Store, Loosenings>();

function looseningsOf(store: Store): Loosenings {
  let loosenings = known.get(store);
  if (loosenings === undefined) {
    loosenings = new Loosenings();
    known.set(store, loosenings);
  }
  return loosenings;
}

/**
 * A store that is not asked again what it has just denied: until the call could pass, and for `longest` at the most, so that what others
 * let pass sooner (`reset`, `refund`, …) is seen. Under a flood it is asked once per `longest` for each key. What is held is not remembered:
 * a release elsewhere comes at any moment.
 * @param longest µs; 0: each call asks, and others that remember still learn of what is loosened here
 * @param origin the store that other limiters have, too, if `store` is a layer around it
 */
export function withDenyCache(store: Store, longest: number, origin = store): Store {
  if (!store.remote) return store;
  const loosenings = looseningsOf(origin);
  const denials = new Denials(longest, loosenings, around(store, { name: 'deny-cache' }));

  return around(store, {
    ask(asking: Asking) {
      const { call } = asking;
      if (LOOSENS.includes(call.operation)) {
        ask(store, new Loosening(asking, loosenings));
      } else if (call.operation !== 'consume' || call.traced === true || longest === 0) {
        ask(store, asking);
      } else {
        const now = store.clock.now();
        const denial = denials.find(call, now);
        if (denial === undefined) ask(store, new Remembering(asking, denials, now));
        else if (now < denial.until) answerInTurn(() => asking.answered(denials.told(denial, now)));
        else if (denial.waiting === undefined)
          ask(store, new Refreshing(asking, denials, now, denial, store));
        else denial.waiting.push(new Waiting(asking, store));
      }
    },
    close: () => {
      denials.clear();
      return store.close();
    },
  });
}

/** What lets a key pass is counted when it is done, too: a denial that was on its way to us meanwhile was decided before. */
class Loosening extends Passing {
  readonly #loosenings: Loosenings;

  constructor(asking: Asking, loosenings: Loosenings) {
    super(asking);
    this.#loosenings = loosenings;
    loosenings.add(asking.call);
  }

  answered(answer: Answer): void {
    this.#loosenings.add(this.call);
    this.asking.answered(answer);
  }

  failed(error: unknown): void {
    this.#loosenings.add(this.call);
    this.asking.failed(error);
  }
}

/** Takes note of a denial that will hold for a while. */
class Remembering extends Passing {
  readonly #asked: number;

  /** @param asked µs */
  constructor(
    asking: Asking,
    protected readonly denials: Denials,
    asked: number,
  ) {
    super(asking);
    this.#asked = asked;
  }

  answered(answer: Answer): void {
    this.denials.remember(this.call, answer, this.#asked);
    this.asking.answered(answer);
  }

  failed(error: unknown): void {
    this.asking.failed(error);
  }
}

/** Waits for the answer to another call, and may have to ask afterwards, within the time of one call. */
class Waiting extends Passing {
  readonly #own: CallBudget | undefined;

  constructor(asking: Asking, store: Store) {
    super(asking);
    if (asking.budget === undefined) this.#own = store.budget?.();
    this.budget?.begin();
  }

  override get budget(): CallBudget | undefined {
    return this.#own ?? this.asking.budget;
  }

  answered(answer: Answer): void {
    this.#own?.end();
    this.asking.answered(answer);
  }

  failed(error: unknown): void {
    this.#own?.end();
    this.asking.failed(error);
  }
}

/**
 * Asks anew, also for all who come with the same call meanwhile: however many they are, the store is asked once. They fail with it, too:
 * to ask then would take the time of a second deadline.
 */
class Refreshing extends Remembering {
  readonly #denial: Denial;
  readonly #store: Store;

  constructor(asking: Asking, denials: Denials, asked: number, denial: Denial, store: Store) {
    super(asking, denials, asked);
    this.#denial = denial;
    this.#store = store;
    denial.waiting = [];
  }

  override answered(answer: Answer): void {
    super.answered(answer);
    const store = this.#store;
    for (const one of this.#end()) {
      const now = store.clock.now();
      const again = this.denials.find(one.call, now);
      if (again !== undefined) one.answered(this.denials.told(again, now));
      else if (isDegraded(answer)) pass(() => alike(answer, one.call), one);
      else ask(store, new Remembering(one, this.denials, now));
    }
  }

  override failed(error: unknown): void {
    super.failed(error);
    for (const one of this.#end()) one.failed(error);
  }

  /** What was known before is known no more. @returns who waited */
  #end(): Asking[] {
    const { waiting = [] } = this.#denial;
    this.#denial.waiting = undefined;
    this.denials.drop(this.#denial);
    return waiting;
  }
}
