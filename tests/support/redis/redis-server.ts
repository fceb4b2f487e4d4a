import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { type RedisBinary, redisBinary } from './redis-binary.ts';
import { launch, type RedisProcess } from './redis-process.ts';

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  /** Changes with `restart`. */
  readonly pid: number;
  /** Shuts it down and removes its folder. */
  stop(): Promise<void>;
  /** Sends a signal. If it ends the server, waits for the end; `restart` starts it again. */
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Suspends it: connections stay open, without answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /**
   * Ends it if it still runs and starts it again on the same port: empty, unless it ran SAVE.
   * @param until `'loading'`: return as soon as it answers, even with LOADING
   */
  restart(until?: 'ready' | 'loading'): Promise<void>;
}

const ATTEMPTS = 20;
const ENDING: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGKILL', 'SIGQUIT', 'SIGABRT'];

/**
 * Starts the caller's own Redis on a free port of 127.0.0.1, without persistence, in a temporary folder.
 * @param options.args more of redis-server's arguments; a configuration file must be the first
 */
export async function startRedis(options: { args?: readonly string[] } = {}): Promise<RedisServer> {
  const binary = await redisBinary();
  const folder = await mkdtemp(join(tmpdir(), 'sluice-redis-'));
  // Another process may take the port before Redis binds it.
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    try {
      const started = await launch(
        binary,
        redisArguments(binary, port, folder, options.args ?? []),
        port,
        folder,
      );
      return new LocalRedis(port, folder, started, (until) =>
        relaunch(binary, redisArguments(binary, port, folder, options.args ?? []), port, folder, until),
      );
    } catch (error) {
      if (attempt === 3) {
        await rm(folder, { recursive: true, force: true });
        throw error;
      }
    }
  }
}

function redisArguments(
  { image }: RedisBinary,
  port: number,
  folder: string,
  more: readonly string[],
): string[] {
  const [first] = more;
  const file = first !== undefined && !first.startsWith('--') ? [first] : [];
  // Inside a container, loopback is the container's own. Docker publishes the port only on 127.0.0.1.
  const address = image === undefined ? ['--bind', '127.0.0.1', '--dir', folder] : ['--protected-mode', 'no'];
  const ours = ['--port', String(port), ...address, '--save', '', '--appendonly', 'no', '--daemonize', 'no'];
  // Otherwise a replica would get its data 5 s after its request.
  ours.push('--repl-diskless-sync-delay', '0');
  return [...file, ...ours, ...more.slice(file.length)];
}

/** An outgoing connection of another process may use our port for a moment. */
async function relaunch(
  binary: RedisBinary,
  args: readonly string[],
  port: number,
  folder: string,
  until: 'ready' | 'loading',
): Promise<RedisProcess> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launch(binary, args, port, folder, until);
    } catch (error) {
      if (attempt === ATTEMPTS) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

class LocalRedis implements RedisServer {
  readonly url: string;

  constructor(
    readonly port: number,
    private readonly folder: string,
    private running: RedisProcess,
    private readonly again: (until: 'ready' | 'loading') => Promise<RedisProcess>,
  ) {
    this.url = `redis://127.0.0.1:${port}`;
  }

  get pid(): number {
    return this.running.pid;
  }

  async stop(): Promise<void> {
    await this.end('SIGTERM');
    await rm(this.folder, { recursive: true, force: true });
  }

  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    await this.running.signal(signal);
    if (ENDING.includes(signal)) await this.running.end();
  }

  async freeze(): Promise<void> {
    await this.running.signal('SIGSTOP');
  }

  async thaw(): Promise<void> {
    await this.running.signal('SIGCONT');
  }

  async restart(until: 'ready' | 'loading' = 'ready'): Promise<void> {
    await this.end('SIGKILL');
    this.running = await this.again(until);
  }

  private async end(signal: NodeJS.Signals): Promise<void> {
    await this.running.signal(signal);
    await this.running.signal('SIGCONT'); // a frozen server does not handle SIGTERM
    await this.running.end();
  }
}
