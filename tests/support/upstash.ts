import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';

export const UPSTASH_TOKEN = 'a-token-of-the-tests';

type Reply = { readonly result: unknown } | { readonly error: string };

/** Answers a request in place of Redis. @returns false to let Redis answer */
export type Interception = (request: IncomingMessage, response: ServerResponse) => boolean;

/**
 * The REST API of Upstash in front of a Redis: `POST /` with one command, `POST /pipeline` with several, as JSON arrays. A text that is no
 * UTF-8 arrives whole with `Upstash-Encoding: base64` only.
 */
export class UpstashDouble {
  readonly url: string;
  /** The commands of each request so far. */
  readonly requests: (readonly string[])[] = [];
  /** Set it to answer in place of Redis. */
  intercept: Interception | undefined;
  /** Set it to change a command before Redis runs it. */
  rewrite: ((command: readonly string[]) => readonly string[]) | undefined;
  readonly #server: Server;
  readonly #client: Redis;

  private constructor(server: Server, redisUrl: string) {
    this.#server = server;
    this.#client = new Redis(redisUrl);
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    server.on('request', (request, response) => void this.#handle(request, response));
  }

  static async start(redisUrl: string): Promise<UpstashDouble> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new UpstashDouble(server, redisUrl);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
    this.#client.disconnect();
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request);
    if (this.intercept?.(request, response)) return;
    const send = (status: number, answer: unknown) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    if (request.headers.authorization !== `Bearer ${UPSTASH_TOKEN}`)
      return void send(401, { error: 'WRONGPASS invalid or missing auth token' });
    const isPipeline = request.url === '/pipeline';
    const commands = (isPipeline ? JSON.parse(body) : [JSON.parse(body)]) as string[][];
    this.requests.push(commands.map(([name]) => String(name).toUpperCase()));
    const encode = request.headers['upstash-encoding'] === 'base64' ? 'base64' : 'utf8';
    const replies = await Promise.all(
      commands.map((command) => this.#run(this.rewrite?.(command) ?? command, encode)),
    );
    if (isPipeline) return void send(200, replies);
    send('error' in replies[0]! ? 400 : 200, replies[0]);
  }

  async #run([name, ...args]: readonly string[], encoding: 'base64' | 'utf8'): Promise<Reply> {
    try {
      return { result: encoded(await this.#client.callBuffer(name!, ...args.map(String)), encoding) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  }
}

function encoded(reply: unknown, encoding: 'base64' | 'utf8'): unknown {
  if (Array.isArray(reply)) return reply.map((one) => encoded(one, encoding));
  if (!Buffer.isBuffer(reply)) return reply;
  return String(reply) === 'OK' ? 'OK' : reply.toString(encoding);
}
