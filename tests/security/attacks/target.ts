import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as clients send it. */
export interface Sent {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** A program to attack: a code block of a recipe, or the app of an example. */
export interface Target {
  /** Its file and its part in it. */
  readonly name: string;
  /** Returns a server or a request handler, with new counts. */
  open(): Promise<Server | ((request: IncomingMessage, response: ServerResponse) => void)>;
  /** The request of an honest client. */
  readonly honest: Sent;
  /** The statuses of requests that reach the handler; default 200. */
  readonly reached?: readonly number[];
  /** The most requests of one client that reach the handler. */
  readonly most: number;
  /** The field of the body or header that names the subject of the request. */
  readonly field?: string | undefined;
  /** Other spellings of the same value. */
  readonly spellings?: readonly string[];
  /** The most requests for one value of the field; default `most`. */
  readonly mostForOne?: number;
  /** Whether the program trusts a proxy on this machine. */
  readonly behindProxy?: boolean;
}

const ATTACKER = '203.0.113.9';

/** A running target. It counts the requests that reach the handler. */
export class Running {
  handled = 0;
  /** Closes the connection as soon as the handler answers. */
  leaves = false;

  private constructor(
    readonly target: Target,
    readonly server: Server,
  ) {
    const reached = target.reached ?? [200];
    server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
      const end = response.end;
      response.end = ((...args: unknown[]) => {
        if (reached.includes(response.statusCode)) {
          this.handled += 1;
          if (this.leaves) request.socket.destroy();
        }
        return Reflect.apply(end, response, args);
      }) as typeof end;
    });
  }

  static async start(target: Target): Promise<Running> {
    const opened = await target.open();
    const server = typeof opened === 'function' ? createServer(opened) : opened;
    const running = new Running(target, server);
    if (!server.listening) {
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
    }
    return running;
  }

  /** @param claimed the client's `X-Forwarded-For`; a proxy adds `address` to it */
  async send(sent: Partial<Sent> = {}, claimed?: string, address = ATTACKER): Promise<number | undefined> {
    const { method, path, headers, body } = { ...this.target.honest, ...sent };
    const { behindProxy } = this.target;
    const list = [claimed, behindProxy ? address : undefined].filter((each) => each !== undefined);
    const { port } = this.server.address() as AddressInfo;
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(list.length > 0 && { 'X-Forwarded-For': list.join(', ') }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    await answer?.arrayBuffer();
    return answer?.status;
  }

  /** The honest request with another value of its field. `undefined` leaves it out. */
  with(value: unknown): Partial<Sent> {
    const { field, honest } = this.target;
    return { body: { ...(honest.body as object), [field!]: value } };
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
