import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../redis/free-port.ts';
import { run } from '../run.ts';
import { type PostgresBinaries, postgresBinaries } from './binaries.ts';
import { launch, type PostgresProcess } from './postgres-process.ts';
import { copyTemplate, USER } from './template.ts';
import { giveToPostgres, readableBinaries } from './user.ts';

export interface PostgresOptions {
  /** Parameters of postgresql.conf, such as `{ max_connections: 10 }`. */
  readonly config?: Readonly<Record<string, string | number | boolean>>;
  /** Default: what `postgresBinaries` finds. */
  readonly binaries?: PostgresBinaries;
}

export interface PostgresServer {
  /** Of the superuser, with its password, and the database `postgres`. */
  readonly url: string;
  readonly port: number;
  /** Changes with `restart`. */
  readonly pid: number;
  /** The last 20,000 characters that it wrote. */
  log(): string;
  /** Shuts it down and removes its folder. */
  stop(): Promise<void>;
  /** Ends all its processes by kill -9. `restart` starts it again. */
  kill(): Promise<void>;
  /** Suspends all its processes: connections stay open, without answers. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /**
   * Ends it if it still runs, and starts it again on the same port.
   * @param how `'crash'`: as after a crash, which empties UNLOGGED tables; `'fast'`: as an administrator does it
   * @param config changes parameters
   */
  restart(how?: 'crash' | 'fast', config?: PostgresOptions['config']): Promise<void>;
  /**
   * Starts a streaming replica. `SELECT pg_promote()` makes it a primary.
   * @param options.port of a proxy before this server; default: the server's own
   */
  replica(options?: {
    readonly port?: number;
    readonly config?: PostgresOptions['config'];
  }): Promise<PostgresServer>;
}

/** Fast, because tests lose nothing with the machine; `fsync: true` makes it like a real one. */
const CONFIG = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: false,
  full_page_writes: false,
  jit: false,
  shared_buffers: '32MB',
  // In files of its folder, which go with it even after kill -9.
  dynamic_shared_memory_type: 'mmap',
  // What a replica that is started later needs.
  wal_keep_size: '1GB',
  hot_standby: true,
};
const ATTEMPTS = 20;

/** Starts the caller's own Postgres on a free port of 127.0.0.1, in a temporary folder, without sockets of the file system. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  return start(options);
}

async function start(options: PostgresOptions, primary?: string): Promise<LocalPostgres> {
  const found = options.binaries ?? (await postgresBinaries());
  const folder = await mkdtemp(join(tmpdir(), 'sluice-postgres-'));
  try {
    await chmod(folder, 0o755);
    const data = join(folder, 'data');
    const password = await copyTemplate(found, data);
    const binaries = await readableBinaries(found, folder);
    if (primary !== undefined) await makeStandby(data, `${primary} user=${USER} password=${password}`);
    // Another process may take the port before Postgres binds it.
    for (let attempt = 1; ; attempt += 1) {
      const server = new LocalPostgres(await freePort(), folder, password, binaries, options);
      try {
        await server.launch();
        return server;
      } catch (error) {
        if (attempt === 3 || !`${error}`.includes('Address already in use')) throw error;
      }
    }
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function makeStandby(data: string, connection: string): Promise<void> {
  await writeFile(join(data, 'standby.signal'), '');
  await writeFile(join(data, 'postgresql.auto.conf'), `primary_conninfo = '${connection}'\n`);
  await giveToPostgres(data);
}

class LocalPostgres implements PostgresServer {
  readonly url: string;
  #process: PostgresProcess | undefined;

  constructor(
    readonly port: number,
    private readonly folder: string,
    password: string,
    private readonly binaries: PostgresBinaries,
    private options: PostgresOptions,
  ) {
    this.url = `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
  }

  get pid(): number {
    return this.#running.pid;
  }

  get #running(): PostgresProcess {
    if (this.#process === undefined) throw new Error('This Postgres was not started');
    return this.#process;
  }

  log(): string {
    return this.#running.log();
  }

  async launch(): Promise<void> {
    const config = { ...CONFIG, ...this.options.config, port: this.port };
    const parameters = Object.entries(config).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const args = ['-D', join(this.folder, 'data'), ...parameters];
    this.#process = await launch(this.binaries, args, this.folder);
  }

  async stop(): Promise<void> {
    await this.#end('SIGINT');
    await this.#removeSharedMemory();
    await rm(this.folder, { recursive: true, force: true });
  }

  async kill(): Promise<void> {
    await this.#running.signalAll('SIGKILL');
    await this.#running.end();
  }

  async freeze(): Promise<void> {
    await this.#running.signalAll('SIGSTOP');
  }

  async thaw(): Promise<void> {
    await this.#running.signalAll('SIGCONT');
  }

  async restart(how: 'crash' | 'fast' = 'crash', config: PostgresOptions['config'] = {}): Promise<void> {
    await this.#end(how === 'crash' ? 'SIGQUIT' : 'SIGINT');
    this.options = { ...this.options, config: { ...this.options.config, ...config } };
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.launch();
      } catch (error) {
        // An outgoing connection of another process may use our port for a moment.
        if (attempt === ATTEMPTS || !`${error}`.includes('Address already in use')) throw error;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  }

  replica({
    port = this.port,
    config,
  }: Parameters<PostgresServer['replica']>[0] = {}): Promise<PostgresServer> {
    const options = { binaries: this.binaries, config: { ...this.options.config, ...config } };
    return start(options, `host=127.0.0.1 port=${port}`);
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#process === undefined) return;
    await this.#process.signalAll('SIGCONT'); // a frozen server does not end
    this.#process.signal(signal);
    await this.#process.end();
  }

  /** A killed server leaves a few bytes of shared memory, which its next start would remove. */
  async #removeSharedMemory(): Promise<void> {
    const file = await readFile(join(this.folder, 'data/postmaster.pid'), 'utf8').catch(() => '');
    const id = file.split('\n')[6]?.trim().split(/\s+/)[1];
    if (id !== undefined) await run('ipcrm', ['-m', id]);
  }
}
