import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import type { Answer, Call } from '../../packages/core/src/call/call.js';
import { globalsOf, type Surroundings } from './globals.js';

/** How a call ended. */
export interface Outcome {
  readonly answer?: Answer;
  readonly error?: unknown;
}

export type Product = typeof import('./product.js');

const require = createRequire(__filename);

/** A copy of the product: its modules are loaded once, and serve one process after the other, run by run. */
export class Instance {
  readonly product: Product;
  /** The process that runs on it. */
  surroundings: Surroundings | undefined;

  /** Called with each decision that its code makes. */
  decided: ((call: Call, answer: Answer) => void) | undefined;
  /** Called when a call of its pipelines begins. */
  begun: ((call: Call) => void) | undefined;
  /** Called when a call of its pipelines ends. `again`: it had ended before. */
  settled: ((call: Call, outcome: Outcome, again: boolean) => void) | undefined;

  constructor(load: (globals: object, require: (name: string) => unknown) => Product) {
    const { globals, modules } = globalsOf(() => this.surroundings ?? NOWHERE);
    this.product = load(globals, (name) => modules[name] ?? require(name));
    this.#watch();
  }

  #watch(): void {
    const { decide } = this.product.DecidedTurn.prototype;
    const { begin, resolve, reject } = this.product.PendingCall.prototype;
    const instance = this;
    this.product.DecidedTurn.prototype.decide = function (call) {
      const answer = decide.call(this, call);
      instance.decided?.(call, answer);
      return answer;
    };
    this.product.PendingCall.prototype.begin = function (...given) {
      instance.begun?.(this);
      return begin.apply(this, given) as never;
    };
    this.product.PendingCall.prototype.resolve = function (answer) {
      instance.settled?.(this, { answer }, this.over);
      resolve.call(this, answer);
    };
    this.product.PendingCall.prototype.reject = function (error) {
      instance.settled?.(this, { error }, this.over);
      reject.call(this, error);
    };
  }
}

/** While modules are loaded. */
const NOWHERE: Surroundings = {
  now: 0,
  random: () => 0,
  after: () => () => {},
  nextTurn: () => {},
};

/** Loads copies of a bundle of product.ts. */
export class Instances {
  readonly #load: (globals: object, require: (name: string) => unknown) => Product;
  readonly #free: Instance[] = [];

  constructor(bundle: string, filename: string) {
    const names = Object.keys(globalsOf(() => NOWHERE).globals).join(', ');
    const body = `const module = { exports: {} }; const { exports } = module;\n${bundle}\nreturn module.exports;`;
    // One function for all copies: the engine shares between them what it learns about the code, and what it compiles.
    this.#load = new Script(`(function ({ ${names} }, require) {${body}\n})`, {
      filename,
    }).runInThisContext();
  }

  /** One that no process runs on. */
  take(): Instance {
    return this.#free.pop() ?? new Instance(this.#load);
  }

  giveBack(instance: Instance): void {
    instance.surroundings = undefined;
    instance.decided = undefined;
    instance.begun = undefined;
    instance.settled = undefined;
    this.#free.push(instance);
  }
}
