import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

type Mode = { kind: 'pass' } | { kind: 'delay'; ms: number } | { kind: 'blackhole' };

/**
 * Stands between a client and Redis, and misbehaves as networks do. A change of mode holds for connections that are open, too.
 */
export class TcpProxy {
  readonly #server: Server;
  readonly #clients = new Set<Socket>();
  #mode: Mode = { kind: 'pass' };
  #held: (() => void)[] = [];
  #resetNextReply = false;
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

  /** How many connections clients have opened so far. */
  get connections(): number {
    return this.#connections;
  }

  /** How many replies `resetNextReply` has destroyed. */
  get lostReplies(): number {
    return this.#lostReplies;
  }

  /** Bytes go through as they come. */
  pass(): void {
    this.#mode = { kind: 'pass' };
    for (const deliver of this.#held.splice(0)) deliver();
  }

  /** Each piece of a reply comes `ms` later. */
  delay(ms: number): void {
    this.#mode = { kind: 'delay', ms };
  }

  /**
   * Connections open and stay open, and nothing arrives in either direction. `pass` ends it as a partition ends: what was sent
   * meanwhile, on connections that are still open, arrives late.
   */
  blackhole(): void {
    this.#mode = { kind: 'blackhole' };
  }

  /** The next reply is lost with its connection, after Redis has run the command. Connections made later pass. */
  resetNextReply(): void {
    this.#resetNextReply = true;
  }

  /** Cuts the connections there are; new ones are welcome. */
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
    redis.on('data', (data) => this.#reply(client, data));
  }

  #reply(client: Socket, data: Buffer): void {
    if (this.#resetNextReply) {
      this.#resetNextReply = false;
      this.#lostReplies += 1;
      client.resetAndDestroy();
    } else if (this.#mode.kind === 'pass') {
      send(client, data);
    } else if (this.#mode.kind === 'delay') {
      setTimeout(() => send(client, data), this.#mode.ms);
    } else {
      this.#held.push(() => send(client, data));
    }
  }
}

function send(socket: Socket, data: Buffer): void {
  if (!socket.destroyed) socket.write(data);
}
