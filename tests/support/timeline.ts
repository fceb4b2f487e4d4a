import type { Policy, Question, State, Step } from '../../packages/core/src/algorithms/algorithm.js';
import { compilePolicy } from '../../packages/core/src/algorithms/index.js';

export const START = 1_735_689_600_000_000;
export const ms = (value: number) => Math.round(value * 1000);
export const seconds = (value: number) => Math.round(value * 1_000_000);

/** A key of one policy, asked at moments of the test's choosing (µs after START), by the pure step alone. */
export class Timeline {
  readonly rule;
  state: State | undefined;

  constructor(policy: Policy) {
    this.rule = compilePolicy(policy);
  }

  ask(micros: number, question: Partial<Question> = {}): Step {
    const { algorithm, parameters } = this.rule;
    const whole: Question = { operation: 'consume', cost: 1, maxWait: 0, at: 0, ...question };
    const before = this.state;
    // A store forgets a state whose first number has passed: the step must not need it any more.
    const live = before !== undefined && before[0]! > START + micros ? before : undefined;
    const step = algorithm.step(parameters, before, START + micros, whole);
    const fresh = algorithm.step(parameters, live, START + micros, whole);
    expect({ ...step, state: undefined }).toEqual({ ...fresh, state: undefined });
    if (whole.operation !== 'peek') this.state = step.state;
    return step;
  }

  consume(micros: number, cost = 1): boolean {
    return this.ask(micros, { cost }).allowed;
  }

  book(micros: number, cost = 1, maxWait = seconds(3600)): Step {
    return this.ask(micros, { cost, maxWait });
  }
}
