import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Decision, Policy } from '../../../packages/core/src/index.js';
import { bundle } from '../../support/bundle.js';

/** What the floods of a process came to. */
export interface Report {
  readonly asked: number;
  /** Errors that callers met. */
  readonly failures: readonly string[];
  /** The longest `retryAfter` that a caller got, in ms. */
  readonly longestRetry: number;
  /** How many calls passed, by limiter and key. */
  readonly admitted: Readonly<Record<string, number>>;
}

interface Reply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** A service whose processes may be of two releases: `caller.mjs` with today's core, or with the core of the layout before. */
export class Service {
  readonly #processes: ServiceProcess[] = [];

  private constructor(
    readonly name: string,
    private readonly redisUrl: string,
    private readonly policies: Readonly<Record<string, Policy>>,
    private readonly today: Awaited<ReturnType<typeof bundle>>,
  ) {}

  static async create(
    name: string,
    redisUrl: string,
    policies: Readonly<Record<string, Policy>>,
  ): Promise<Service> {
    const today = await bundle(join(__dirname, '../../../packages/core/src/index.ts'));
    return new Service(name, redisUrl, policies, today);
  }

  startOld(): Promise<ServiceProcess> {
    return this.#start(join(__dirname, 'sluice-v1.mjs'));
  }

  startNew(): Promise<ServiceProcess> {
    return this.#start(this.today.file);
  }

  async #start(library: string): Promise<ServiceProcess> {
    const args = [library, this.redisUrl, this.name, JSON.stringify(this.policies)];
    const started = new ServiceProcess(fork(join(__dirname, 'caller.mjs'), args, { execArgv: [] }));
    this.#processes.push(started);
    await started.ready;
    return started;
  }

  async stop(): Promise<void> {
    await Promise.all(this.#processes.map((one) => one.kill()));
    await this.today.remove();
  }
}

export class ServiceProcess {
  readonly ready: Promise<unknown>;
  readonly #asked = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>();
  readonly #gone: Promise<unknown>;
  #ids = 0;

  constructor(private readonly child: ChildProcess) {
    this.ready = this.#answer(0);
    child.on('message', ({ id, result, error }: Reply) => {
      const asked = this.#asked.get(id)!;
      this.#asked.delete(id);
      if (error === undefined) asked.resolve(result);
      else asked.reject(new Error(error));
    });
    this.#gone = new Promise((resolve) => child.once('exit', resolve));
    child.once('exit', (code, signal) => {
      for (const { reject } of this.#asked.values()) reject(new Error(`ended (${code ?? signal})`));
    });
  }

  /** A method of one of its limiters. */
  call(policy: string, method: 'consume' | 'acquire' | 'peek', ...args: unknown[]): Promise<Decision> {
    return this.#send('call', { policy, method, args }) as Promise<Decision>;
  }

  /** Begins to ask for these keys of all limiters, until it ends. */
  async flood(keys: readonly string[]): Promise<void> {
    await this.#send('flood', { keys });
  }

  /** Waits until its flood has asked so often. */
  async asked(calls: number): Promise<void> {
    while (((await this.#send('report')) as Report).asked < calls) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** Ends it as a deployment does, in an orderly way. */
  async end(): Promise<Report> {
    const report = (await this.#send('end')) as Report;
    this.child.disconnect();
    await this.#gone;
    return report;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
    await this.#gone;
  }

  #send(task: string, rest: object = {}): Promise<unknown> {
    this.#ids += 1;
    const answer = this.#answer(this.#ids);
    this.child.send({ id: this.#ids, task, ...rest });
    return answer;
  }

  #answer(id: number): Promise<unknown> {
    return new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject }));
  }
}
