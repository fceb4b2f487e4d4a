import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { bundle } from '../support/bundle.js';
import { FIELDS, type Heat, type HeatResult } from './heat.js';

/** What a process was answered. Moments and times are µs of Redis's clock. */
export interface Answered {
  readonly key: number;
  readonly moment: number;
  readonly cost: number;
  readonly allowed: boolean;
  /** When every permit is back: for a fixed window, when it ends. */
  readonly whole: number;
}

/** What a heat of all processes came to; `answers` in the order of Redis's clock. */
export interface Outcome {
  readonly asked: number;
  readonly resets: number;
  readonly answers: readonly Answered[];
}

/** Processes that race for the same keys. Started once, for to start them costs more than a heat. */
export class Fleet {
  private constructor(
    private readonly children: readonly ChildProcess[],
    private readonly remove: () => Promise<void>,
  ) {}

  static async start(processes: number, redisUrl: string): Promise<Fleet> {
    const { file, remove } = await bundle(join(__dirname, 'racer.ts'));
    const children = Array.from({ length: processes }, () =>
      fork(file, [redisUrl], { serialization: 'advanced', execArgv: [] }),
    );
    const fleet = new Fleet(children, remove);
    await Promise.all(children.map(said<'ready'>)).catch(async (error) => {
      await fleet.stop();
      throw error;
    });
    return fleet;
  }

  /** Each process does what `heat` says; the counts in it are those of one process. */
  async run(heat: Heat): Promise<Outcome> {
    const results = await Promise.all(
      this.children.map((child) => {
        const result = said<HeatResult>(child);
        child.send(heat);
        return result;
      }),
    );
    return {
      asked: sum(results.map(({ asked }) => asked)),
      resets: sum(results.map(({ resets }) => resets)),
      answers: results.flatMap(({ answers }) => unpacked(answers)).sort((a, b) => a.moment - b.moment),
    };
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.children.map((child) => {
        if (child.exitCode !== null || child.signalCode !== null) return undefined;
        const gone = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        return gone;
      }),
    );
    await this.remove();
  }
}

function said<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', heard);
      child.off('exit', gone);
    };
    const heard = (message: unknown) => {
      settle();
      resolve(message as T);
    };
    const gone = (code: number | null, signal: string | null) => {
      settle();
      reject(new Error(`a racing process ended (${code ?? signal}): see its error above`));
    };
    child.on('message', heard).on('exit', gone);
  });
}

function unpacked(numbers: Float64Array): Answered[] {
  return Array.from({ length: numbers.length / FIELDS }, (_, i) => {
    const [key, moment, cost, allowed, reset] = numbers.subarray(i * FIELDS, (i + 1) * FIELDS);
    return { key: key!, moment: moment!, cost: cost!, allowed: allowed === 1, whole: moment! + reset! };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
