import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../support/bundle.js';
import { TEST_SEED } from '../../support/random.js';
import { FIELDS, type RaceRun, type RaceRunResult, type StoreAddress } from './race-run.js';

/** An answer that a process got. Times are µs; moments are by Redis's clock unless the kind of run says otherwise. */
export interface Answered {
  readonly key: number;
  readonly moment: number;
  readonly cost: number;
  readonly allowed: boolean;
  /** The time until every permit is back, or the id of a holder, by the kind of run. */
  readonly detail: number;
  /** Whether the failure policy decided. */
  readonly degraded: boolean;
}

/** The result of a run of all processes; `answers` in the order of their moments. */
export interface Outcome {
  readonly calls: number;
  readonly resets: number;
  readonly answers: readonly Answered[];
}

/** Processes that race for the same keys. Started once, because starting them takes longer than a run. */
export class Fleet {
  private constructor(
    private readonly children: readonly ChildProcess[],
    private readonly remove: () => Promise<void>,
  ) {}

  static async start(processes: number, place: StoreAddress): Promise<Fleet> {
    const { file, remove } = await bundle(join(__dirname, 'racer.ts'));
    const children = Array.from({ length: processes }, (_, i) =>
      fork(file, [JSON.stringify(place), String(TEST_SEED + i)], { serialization: 'advanced', execArgv: [] }),
    );
    const fleet = new Fleet(children, remove);
    await Promise.all(children.map(nextMessage<'ready'>)).catch(async (error) => {
      await fleet.stop();
      throw error;
    });
    return fleet;
  }

  get processes(): number {
    return this.children.length;
  }

  /**
   * Each process runs `raceRun`, whose counts are per process.
   * @param meanwhile faults during the run; a run without `calls` ends with it
   */
  async run(raceRun: RaceRun, meanwhile?: () => Promise<unknown>): Promise<Outcome> {
    const running = Promise.all(
      this.children.map((child) => {
        const result = nextMessage<RaceRunResult>(child);
        child.send(raceRun);
        return result;
      }),
    );
    running.catch(() => undefined); // rethrown below if `meanwhile` fails first
    await meanwhile?.();
    if (raceRun.calls === undefined) for (const child of this.children) child.send('over');
    const results = await running;
    return {
      calls: sum(results.map(({ calls }) => calls)),
      resets: sum(results.map(({ resets }) => resets)),
      answers: results.flatMap(({ answers }) => unpacked(answers)).sort((a, b) => a.moment - b.moment),
    };
  }

  /** Freezes one of the processes for a while. */
  async pause(process: number, ms: number): Promise<void> {
    this.children[process]!.kill('SIGSTOP');
    await sleep(ms);
    this.children[process]!.kill('SIGCONT');
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.children.map((child) => {
        if (child.exitCode !== null || child.signalCode !== null) return undefined;
        const exited = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGKILL');
        return exited;
      }),
    );
    await this.remove();
  }
}

function nextMessage<T>(child: ChildProcess): Promise<T> {
  return new Promise((resolve, reject) => {
    const settle = () => {
      child.off('message', received);
      child.off('exit', exited);
    };
    const received = (message: unknown) => {
      settle();
      resolve(message as T);
    };
    const exited = (code: number | null, signal: string | null) => {
      settle();
      reject(new Error(`a racing process ended (${code ?? signal}): see its error above`));
    };
    child.on('message', received).on('exit', exited);
  });
}

function unpacked(numbers: Float64Array): Answered[] {
  return Array.from({ length: numbers.length / FIELDS }, (_, i) => {
    const [key, moment, cost, allowed, detail, degraded] = numbers.subarray(i * FIELDS, (i + 1) * FIELDS);
    return {
      key: key!,
      moment: moment!,
      cost: cost!,
      allowed: allowed === 1,
      detail: detail!,
      degraded: degraded === 1,
    };
  });
}

const sum = (numbers: readonly number[]): number => numbers.reduce((a, b) => a + b, 0);
