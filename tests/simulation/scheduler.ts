import { nextTick } from 'node:process';
import { Agenda, type Appointment } from '../../packages/core/src/agenda.js';

/** A turn of an event loop, µs: replies that have arrived are read before `setImmediate` runs. */
export const TURN = 2;

/** Virtual time, µs since the world began. Events run one by one, each with all its promises, in the order of their moments. */
export class Scheduler {
  now = 0;
  readonly #agenda = new Agenda<() => void>();

  /** Runs `event` at `moment`. @returns what `cancel` takes */
  at(moment: number, event: () => void): Appointment<() => void> {
    return this.#agenda.add(Math.max(this.now, moment), event);
  }

  cancel(appointment: Appointment<() => void>): void {
    this.#agenda.remove(appointment);
  }

  /** Runs all events until `moment`, and sets the time to it. */
  runUntil(moment: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const step = () => {
        const next = this.#agenda.first;
        if (next === undefined || next.at > moment) {
          this.now = moment;
          resolve();
          return;
        }
        this.#agenda.remove(next);
        this.now = Math.floor(next.at); // a fraction only says which of several events is first
        try {
          next.value();
        } catch (error) {
          reject(error);
          return;
        }
        afterPromises(step);
      };
      afterPromises(step);
    });
  }
}

const ready = Promise.resolve();

/** Calls `step` after all ready promises: Node runs a tick that a promise scheduled when no promise is ready. A real turn takes 20 times as long. */
const afterPromises = (step: () => void): void => {
  void ready.then(() => nextTick(step));
};
