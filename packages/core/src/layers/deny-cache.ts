import { NEVER } from '../algorithms/algorithm.js';
import type { Answer, Call, Operation, Part } from '../decisions/call.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import type { Asked, Store } from '../stores/store.js';
import { around } from './around.js';
import { isStandIn, type StandInAnswer } from './stand-in-answer.js';

/** Denials that are remembered at once; the oldest makes room. */
const MOST = 10_000;

/** What lets a key pass sooner than a denial said. */
const LOOSENS: readonly Operation[] = ['refund', 'block', 'override', 'reset'];

interface Denial {
  readonly call: Call;
  readonly answer: Answer;
  /** µs of this process's clock, before the store was asked: so no moment of the answer is taken for later than it is. */
  readonly asked: number;
  /** Until when it holds, on the same clock. */
  readonly until: number;
  /** What had been loosened by then. */
  readonly mark: number;
}

/** Counts what this process lets pass sooner in one store, whichever limiter does it; keys share the counters. */
class Loosenings {
  readonly #counts = new Uint32Array(1024);

  of(key: string): number {
    return this.#counts[placeOf(key)]!;
  }

  add({ parts }: Call): void {
    for (const { key } of parts) this.#counts[placeOf(key)]! += 1;
  }
}

function placeOf(key: string): number {
  let hash = 0;
  for (let i = 0; i < key.length; i += 1) hash = (Math.imul(hash, 31) + key.charCodeAt(i)) | 0;
  return hash & 1023;
}

const made = new WeakMap<Store, Loosenings>();

function looseningsOf(store: Store): Loosenings {
  let loosenings = made.get(store);
  if (loosenings === undefined) {
    loosenings = new Loosenings();
    made.set(store, loosenings);
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
  /** By the key of the part that denied. */
  const denials = new Map<string, Denial>();
  const by = around(store, { name: 'deny-cache' });

  const remember = (call: Call, answer: Answer, asked: number): void => {
    const binding = call.parts[bindingOf(answer)]!;
    const until = asked + Math.min(longest, answer.wait);
    denials.delete(binding.key);
    if (denials.size >= MOST) denials.delete(denials.keys().next().value!);
    denials.set(binding.key, { call, answer, asked, until, mark: loosenings.of(binding.key) });
  };

  const recall = (call: Call, now: number): StandInAnswer | undefined => {
    if (denials.size === 0) return undefined;
    for (const { key } of call.parts) {
      const denial = denials.get(key);
      if (denial === undefined) continue;
      const over = now >= denial.until || now < denial.asked;
      if (over || denial.mark !== loosenings.of(key)) denials.delete(key);
      else if (covers(denial, call)) return { ...aged(denial.answer, now - denial.asked), by };
    }
    return undefined;
  };

  /** Counted when it is done, too: a denial that was on its way to us meanwhile was decided before. */
  const loosen = (call: Call, asked: Asked | undefined): MaybePromise<Answer> => {
    loosenings.add(call);
    const answer = store.decide(call, asked);
    if (isPromise(answer)) return answer.finally(() => loosenings.add(call));
    return answer;
  };

  return around(store, {
    decide(call: Call, asked?: Asked): MaybePromise<Answer> {
      const { operation, parts } = call;
      if (LOOSENS.includes(operation)) return loosen(call, asked);
      if (operation !== 'consume' || longest === 0) return store.decide(call, asked);
      const now = store.clock.now();
      return (
        recall(call, now) ??
        andThen(store.decide(call, asked), (answer) => {
          if (!answer.allowed && answer.wait !== NEVER && !isStandIn(answer) && !parts.some(isHeld)) {
            remember(call, answer, now);
          }
          return answer;
        })
      );
    },
    close: () => {
      denials.clear();
      return store.close();
    },
  });
}

const isHeld = ({ rule }: Part): boolean => rule.algorithm.holders !== undefined;

/** The part that is waited for longest. */
const bindingOf = ({ parts }: Answer): number =>
  parts.reduce((longest, { wait }, i) => (wait > parts[longest]!.wait ? i : longest), 0);

/** Is it the same question? Less might pass, and more has to wait for longer. */
const covers = ({ call }: Denial, { parts }: Call): boolean =>
  parts.length === call.parts.length &&
  parts.every(({ key, cost }, i) => key === call.parts[i]!.key && cost === call.parts[i]!.cost);

/** The same answer, `micros` later. */
function aged(answer: Answer, micros: number): Answer {
  const less = (time: number) => (time === NEVER ? NEVER : Math.max(0, time - micros));
  return {
    ...answer,
    now: answer.now + micros,
    wait: less(answer.wait),
    parts: answer.parts.map((part) => ({ ...part, wait: less(part.wait), reset: less(part.reset) })),
  };
}
