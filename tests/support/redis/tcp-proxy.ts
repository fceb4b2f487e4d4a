import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fractionsFrom, TEST_SEED } from '../random.ts';

type Mode = { kind: 'pass' } | { kind: 'delay'; from: number; to: number } | { kind: 'blackhole' };

/**
 * A proxy between a client and Redis that causes network faults. A change of mode also applies to open connections.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  readonly #fraction = fractionsFrom(TEST_SEED);
  #mode: Mode = { kind: 'pass' };
  #held: (() => void)[] = [];
  /** Number of replies until a lost one, and the bytes of it that pass; undefined: no reply is lost. */
  #loss: { until: number; readonly every: number; readonly bytes: number } | undefined;
  #lostReplies = 0;
  #connections = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  /** @param target a `redis://host:port` address, or a port of 127.0.0.1 */
  static start(target: string | number): Promise<TcpProxy> {
    const { hostname, port } = new URL(typeof target === 'number' ? `redis://127.0.0.1:${target}` : target);
    const server = createServer((client) => proxy.#join(client, hostname, Number(port || 6379)));
    const proxy = new TcpProxy(server);
    return new Promise((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', () => resolve(proxy));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** Number of connections that clients have opened. */
  get connections(): number {
    return this.#connections;
  }

  /** Number of replies that were lost with their connections, wholly or in part. */
  get lostReplies(): number {
    return this.#lostReplies;
  }

  /** Forwards all bytes at once. */
  pass(): void {
    this.#mode = { kind: 'pass' };
    for (const deliver of this.#held.splice(0)) deliver();
  }

  /** Delays each chunk of a reply by `ms`, or by a random time between both numbers. Chunks keep their order. */
  delay(ms: number, most = ms): void {
    this.#mode = { kind: 'delay', from: ms, to: most };
  }

  /**
   * Connections open and stay open, but no bytes arrive in either direction. After `pass`, as after a partition, bytes sent meanwhile
   * on open connections arrive late.
   */
  blackhole(): void {
    this.#mode = { kind: 'blackhole' };
  }

  /**
   * The next reply is lost with its connection, after Redis has run the command. Connections made later pass.
   * @param bytes of the reply that come through before the connection ends
   */
  resetNextReply(bytes = 0): void {
    this.#loss = { until: 0, every: Number.POSITIVE_INFINITY, bytes };
  }

  /** Every n-th reply of all connections is lost in that way; `n` of 0 ends it. */
  resetEvery(n: number, bytes = 0): void {
    this.#loss = n === 0 ? undefined : { until: n - 1, every: n, bytes };
  }

  /** Closes all connections; new ones can open. */
  disconnectAll(): void {
    for (const client of this.#clients) client.resetAndDestroy();
  }

  close(): Promise<void> {
    this.disconnectAll();
    return new Promise((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #join(client: Socket, host: string, port: number): void {
    this.#connections += 1;
    this.#clients.add(client);
    const redis = connect({ host, port });
    client.setNoDelay(true);
    redis.setNoDelay(true);
    const part = () => {
      this.#clients.delete(client);
      client.destroy();
      redis.destroy();
    };
    for (const socket of [client, redis]) {
      socket.once('close', part);
      socket.on('error', () => undefined); // 'close' follows
    }
    client.on('data', (data) => {
      if (this.#mode.kind === 'blackhole') this.#held.push(() => send(redis, data));
      else send(redis, data);
    });
    const deliver = inOrder(client);
    redis.on('data', (data) => this.#reply(client, data, deliver));
  }

  #reply(client: Socket, data: Buffer, deliver: ReturnType<typeof inOrder>): void {
    if (this.#loss !== undefined && --this.#loss.until < 0) {
      this.#loss.until += this.#loss.every;
      this.#lostReplies += 1;
      send(client, data.subarray(0, this.#loss.bytes));
      client.resetAndDestroy();
    } else if (this.#mode.kind === 'pass') {
      deliver(data, 0);
    } else if (this.#mode.kind === 'delay') {
      const { from, to } = this.#mode;
      deliver(data, from + this.#fraction() * (to - from));
    } else {
      this.#held.push(() => deliver(data, 0));
    }
  }
}

/** A chunk with a shorter delay than an earlier chunk arrives right after it. */
function inOrder(client: Socket): (data: Buffer, ms: number) => void {
  let before: Promise<unknown> = Promise.resolve();
  return (data, ms) => {
    const due = ms === 0 ? undefined : sleep(ms);
    before = before.then(() => due).then(() => send(client, data));
  };
}

function send(socket: Socket, data: Buffer): void {
  if (!socket.destroyed) socket.write(data);
}
