import type { Answer, Call } from '../engine/call.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import type { Asked, CallBudget, Store } from '../stores/store.js';

/** A call on its way to its answer. Each layer stands around that of the one before. Only the first answer or error that it is told counts. */
export interface Asking {
  readonly call: Call;
  /** Nobody waits for it any more: what has not left yet must not leave. */
  readonly abandoned: boolean;
  /** ms after which it fails by itself, if it does. */
  readonly deadline: number | undefined;
  /** Time limit of a call that may ask the store more than once. */
  readonly budget?: CallBudget | undefined;
  /** Set by stores that know: true until the call is sent. A call abandoned before that is never sent. */
  unsent?: boolean;
  answered(answer: Answer): void;
  failed(error: unknown): void;
}

/** One whose answer is a promise. */
export class Promised implements Asking {
  readonly promise: Promise<Answer>;
  readonly #asked: Asked | undefined;
  answered!: (answer: Answer) => void;
  failed!: (error: unknown) => void;

  /** @param asked whoever may stop waiting for the answer */
  constructor(
    readonly call: Call,
    asked?: Asked,
  ) {
    this.#asked = asked;
    this.promise = new Promise((resolve, reject) => {
      this.answered = resolve;
      this.failed = reject;
    });
  }

  get abandoned(): boolean {
    return this.#asked?.abandoned === true;
  }

  get deadline(): number | undefined {
    return this.#asked?.deadline;
  }

  get budget(): CallBudget | undefined {
    return this.#asked?.budget;
  }
}

/** One that is for another, and learns of its end before that does. */
export abstract class Passing implements Asking {
  readonly call: Call;

  constructor(protected readonly asking: Asking) {
    this.call = asking.call;
  }

  get abandoned(): boolean {
    return this.asking.abandoned;
  }

  get deadline(): number | undefined {
    return this.asking.deadline;
  }

  get budget(): CallBudget | undefined {
    return this.asking.budget;
  }

  abstract answered(answer: Answer): void;
  abstract failed(error: unknown): void;
}

/** Asks a store in the cheaper of the ways that it has. */
export function ask(store: Store, asking: Asking): void {
  if (store.ask === undefined) pass(() => store.decide(asking.call, asking), asking);
  else store.ask(asking);
}

/** Passes on what is answered, thrown or rejected. */
export function pass(decide: () => MaybePromise<Answer>, asking: Asking): void {
  let answer: MaybePromise<Answer>;
  try {
    answer = decide();
  } catch (error) {
    asking.failed(error);
    return;
  }
  if (isPromise(answer)) {
    answer.then(
      (told) => asking.answered(told),
      (error) => asking.failed(error),
    );
  } else {
    asking.answered(answer);
  }
}

/** The answer as a promise, where it is asked for with `ask`. */
export function promised(ask: (asking: Asking) => void, call: Call, asked?: Asked): Promise<Answer> {
  const asking = new Promised(call, asked);
  ask(asking);
  return asking.promise;
}
