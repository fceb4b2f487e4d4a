import { Redis } from 'ioredis';
import { Info } from './info.js';
import { commandOf, messageOf, type Refusal, refusalKind } from './refusal.js';
import type { Credentials, Timing } from './settings.js';

export type Reply = string | number | null | Reply[];

export interface NodeAddress {
  readonly host: string;
  readonly port: number;
}

/** One reply of `TIME`, in ms: local time of day, and time of the server. */
export interface Moment {
  readonly sent: number;
  readonly received: number;
  readonly server: number;
  /** Times of the monotonic clock. */
  readonly roundTrip: number;
}

export const nameOf = ({ host, port }: NodeAddress): string =>
  host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;

/** No reply: the connection failed or the deadline passed. */
export class NoAnswerError extends Error {}

/** A connection to one server. Sends each command once, waits for a bounded time, and records refusals. */
export class DoctorNode {
  readonly name: string;
  readonly refusals: Refusal[] = [];
  info = new Info(undefined);
  /** The reason why this node is not examined. */
  failure: Error | undefined;
  /** The reason why the database could not be selected. */
  databaseFailure: Error | undefined;
  /** Replies of `TIME`; see measure.ts. */
  readonly moments: Moment[] = [];
  readonly #client: Redis;
  readonly #credentials: Credentials;
  readonly #timing: Timing;

  constructor(
    readonly address: NodeAddress,
    credentials: Credentials,
    timing: Timing,
    /** Facts known before the server answers. */
    readonly expected?: 'replica',
  ) {
    this.name = nameOf(address);
    this.#credentials = credentials;
    this.#timing = timing;
    const { tls, family } = credentials;
    this.#client = new Redis({
      ...address,
      ...(tls !== undefined && { tls }),
      ...(family !== undefined && { family }),
      // This class sends AUTH, SELECT and INFO itself, because ioredis would hide their errors.
      protocol: 2,
      enableReadyCheck: false,
      disableClientInfo: true,
      lazyConnect: true,
      retryStrategy: () => null,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: timing.timeout,
      commandTimeout: timing.timeout,
      disconnectTimeout: 100,
    });
    this.#client.on('error', (error) => {
      this.failure ??= error;
    });
    timing.signal.addEventListener('abort', () => {
      this.failure ??= new NoAnswerError('the time is over');
      this.close();
    });
  }

  /** Connects, signs in and reads `INFO`. Never throws: `failure` has the reason if there is no connection. */
  async open(database = 0): Promise<this> {
    try {
      await this.#client.connect();
      const { username, password } = this.#credentials;
      if (password !== undefined)
        await this.send('AUTH', ...(username === undefined ? [] : [username]), password);
      await this.readInfo();
      if (database !== 0) await this.#select(database);
    } catch (error) {
      this.failure = this.failure ?? (error as Error);
      this.close();
    }
    return this;
  }

  async readInfo(): Promise<Info> {
    const parts: string[] = [];
    for (const section of [[], ['commandstats']]) {
      const text = await this.ask('the state of the server', 'INFO', ...section);
      if (text !== undefined) parts.push(String(text));
    }
    this.info = new Info(parts.length === 0 ? undefined : parts.join('\n'));
    return this.info;
  }

  /**
   * @param about names the content of the reply, for the report of a refusal
   * @returns undefined if the server refuses; the refusal is recorded
   * @throws NoAnswerError, or any other error of the server
   */
  async ask(about: string, ...command: readonly (string | number)[]): Promise<Reply | undefined> {
    try {
      return await this.send(...command);
    } catch (error) {
      const kind = refusalKind(error);
      if (kind === undefined) throw error;
      this.refusals.push({ command: commandOf(command), about, kind });
      return undefined;
    }
  }

  /** A setting of the server; undefined if it is refused or unknown. */
  async config(name: string): Promise<string | undefined> {
    const reply = (await this.ask(name, 'CONFIG', 'GET', name)) as string[] | undefined;
    return reply?.[1];
  }

  /** @throws NoAnswerError, or the error of the server */
  async send(...command: readonly (string | number)[]): Promise<Reply> {
    if (this.failure !== undefined) throw new NoAnswerError(messageOf(this.failure));
    const [name, ...args] = command;
    try {
      return (await this.#client.call(String(name), ...args)) as Reply;
    } catch (error) {
      if ((error as Error).name === 'ReplyError') throw error;
      // After one late reply, further replies would be late too, and the examination has a deadline.
      this.failure ??= new NoAnswerError(
        /timed out/i.test(messageOf(error))
          ? `no answer to ${commandOf(command)} within ${this.#timing.timeout} ms`
          : messageOf(error),
      );
      throw this.failure;
    }
  }

  /** A second connection with the same settings. */
  again(): DoctorNode {
    return new DoctorNode(this.address, this.#credentials, this.#timing);
  }

  get isReplica(): boolean {
    const role = this.info.optional('role');
    return role === undefined ? this.expected === 'replica' : role === 'slave';
  }

  async #select(database: number): Promise<void> {
    try {
      await this.send('SELECT', database);
    } catch (error) {
      if (this.failure !== undefined) throw error;
      this.databaseFailure = error as Error;
    }
  }

  close(): void {
    this.#client.disconnect();
  }
}

/** Connects to one server. `expected`: facts that other servers reported. */
export type Open = (address: NodeAddress, expected?: 'replica') => Promise<DoctorNode>;
