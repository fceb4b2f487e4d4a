import { NEVER } from '../algorithms/algorithm.js';
import type { Answer, Call, Operation, Part } from '../decisions/call.js';
import { andThen } from '../maybe-promise.js';
import type { Store } from '../stores/store.js';
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
}

/**
 * A store that is not asked again what it has just denied: until the call could pass, and for `longest` at the most, so that what others
 * let pass sooner (`reset`, `refund`, …) is seen. Under a flood it is asked once per `longest` for each key. What is held is not remembered:
 * a release elsewhere comes at any moment.
 * @param longest µs
 */
export function withDenyCache(store: Store, longest: number): Store {
  if (!store.remote || longest === 0) return store;
  /** By the key of the part that denied. */
  const denials = new Map<string, Denial>();
  const by: Store = { ...store, name: 'deny-cache' };

  const remember = (call: Call, answer: Answer, asked: number): void => {
    const binding = call.parts[bindingOf(answer)]!;
    const until = asked + Math.min(longest, answer.wait);
    denials.delete(binding.key);
    if (denials.size >= MOST) denials.delete(denials.keys().next().value!);
    denials.set(binding.key, { call, answer, asked, until });
  };

  const recall = (call: Call, now: number): StandInAnswer | undefined => {
    if (denials.size === 0) return undefined;
    for (const { key } of call.parts) {
      const denial = denials.get(key);
      if (denial === undefined) continue;
      if (now >= denial.until || now < denial.asked) denials.delete(key);
      else if (covers(denial, call)) return { ...aged(denial.answer, now - denial.asked), by };
    }
    return undefined;
  };

  return {
    ...store,
    get slotted() {
      return store.slotted;
    },
    decide(call, asked) {
      const { operation, parts } = call;
      if (LOOSENS.includes(operation)) {
        for (const { key } of parts) denials.delete(key);
        return store.decide(call, asked);
      }
      if (operation !== 'consume') return store.decide(call, asked);
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
  };
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
