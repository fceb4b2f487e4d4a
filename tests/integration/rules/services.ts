import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundle } from '../../support/bundle.js';
import { eventually } from '../../support/eventually.js';
import { programEnv } from '../../support/program-env.js';

export interface ServiceOptions {
  readonly redis?: string;
  readonly cluster?: readonly object[];
  /** How often it reads its rules without a message. */
  readonly every: string;
}

/** Errors of the processes' clocks, ms. */
const SKEWS = [0, -3_600_000, 86_400_000];

/** Three processes of one service. */
export class Services {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 20 });
  readonly #children: ChildProcess[] = [];
  #ports: number[] = [];
  #program: Awaited<ReturnType<typeof bundle>> | undefined;

  static async start(options: ServiceOptions): Promise<Services> {
    const services = new Services();
    const program = await bundle(resolve(__dirname, 'service.ts'));
    services.#program = program;
    services.#ports = await Promise.all(
      SKEWS.map(async (skew) => {
        const child = spawn(process.execPath, [program.file, JSON.stringify({ ...options, skew })], {
          env: programEnv,
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        services.#children.push(child);
        const [line] = await once(createInterface({ input: child.stdout! }), 'line');
        return Number(line);
      }),
    );
    return services;
  }

  /** Waits until every process has a version. */
  async run(version: number): Promise<void> {
    await Promise.all(
      this.#ports.map((port) =>
        eventually(async () => JSON.parse((await this.#get(port, '/rules')).body).version === version),
      ),
    );
  }

  async problems(): Promise<(string | undefined)[]> {
    const answers = await Promise.all(this.#ports.map((port) => this.#get(port, '/rules')));
    return answers.map(({ body }) => JSON.parse(body).problem);
  }

  /** One request, to any process. @returns its status */
  async request(user: string, i: number): Promise<number> {
    return (await this.#get(this.#ports[i % this.#ports.length]!, '/a', user)).status;
  }

  /** Requests of a user to all processes, until `stop` is called. Counts them by status. */
  load(user: string): { counts: Map<number, number>; stop(): Promise<void> } {
    const counts = new Map<number, number>();
    let running = true;
    const worker = async (i: number) => {
      while (running) {
        const status = await this.request(user, i);
        counts.set(status, (counts.get(status) ?? 0) + 1);
        await sleep(5);
      }
    };
    const workers = Promise.all([0, 1, 2, 3, 4, 5].map(worker));
    const stop = async () => {
      running = false;
      await workers;
    };
    return { counts, stop };
  }

  async stop(): Promise<void> {
    this.#agent.destroy();
    await Promise.all(
      this.#children.map(async (child) => {
        const ended = once(child, 'exit');
        child.kill('SIGKILL');
        await ended;
      }),
    );
    await this.#program?.remove();
  }

  #get(port: number, path: string, user = 'nobody'): Promise<{ status: number; body: string }> {
    const { promise, resolve, reject } = withResolvers<{ status: number; body: string }>();
    get({ host: '127.0.0.1', port, path, agent: this.#agent, headers: { 'x-user': user } }, (response) => {
      let body = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        body += chunk;
      });
      response.on('end', () => resolve({ status: response.statusCode!, body }));
    }).on('error', reject);
    return promise;
  }
}

/** `Promise.withResolvers`, which Node 20 does not have. */
function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((done, failed) => {
    [resolve, reject] = [done, failed];
  });
  return { promise, resolve, reject };
}
