import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call as the service saw it; moments are ms of this process. */
export interface ServedCall {
  readonly account: string;
  readonly path: string;
  readonly at: number;
  /** When its reply was sent; 0 while it runs. */
  ended: number;
  status: number;
}

/** What a `FakeUpstream` does. */
export interface FakeUpstreamOptions {
  /** Calls of an account that it serves in any window; more are refused with the time at which the next one passes. */
  readonly limit?: number;
  /** ms */
  readonly window?: number;
  /** ms that a reply takes. */
  readonly latency?: number;
}

/** A service on 127.0.0.1 with an exact limit of its own, which logs each call. */
export class FakeUpstream {
  readonly log: ServedCall[] = [];
  /** Instead of the limit: the status and the headers of the reply, or undefined. */
  script: ((call: ServedCall, number: number) => [number, Record<string, string>] | undefined) | undefined;
  readonly #server: Server;
  readonly #options: Required<FakeUpstreamOptions>;
  /** The moments of the calls that it served, by account. */
  readonly #served = new Map<string, number[]>();

  private constructor(options: FakeUpstreamOptions) {
    this.#options = { limit: Number.POSITIVE_INFINITY, window: 1000, latency: 0, ...options };
    this.#server = createServer((request, response) => this.#serve(request, response));
    this.#server.keepAliveTimeout = 60_000;
  }

  static async start(options: FakeUpstreamOptions = {}): Promise<FakeUpstream> {
    const one = new FakeUpstream(options);
    await new Promise<void>((done) => one.#server.listen(0, '127.0.0.1', done));
    return one;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }

  /** Another user of the account, who does not call over HTTP. @returns whether the call was served */
  take(account: string): boolean {
    return this.#wait(account) === 0;
  }

  get refused(): number {
    return this.log.filter(({ status }) => status === 429).length;
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const account = request.headers.authorization ?? '';
    const call: ServedCall = { account, path: request.url!, at: performance.now(), ended: 0, status: 0 };
    this.log.push(call);
    request.resume();
    const [status, headers] = this.script?.(call, this.log.length) ?? this.#limited(account);
    call.status = status;
    setTimeout(() => {
      call.ended = performance.now();
      response.writeHead(status, headers).end('{}');
    }, this.#options.latency);
  }

  #limited(account: string): [number, Record<string, string>] {
    const { limit, window } = this.#options;
    if (limit === Number.POSITIVE_INFINITY) return [200, {}];
    const wait = this.#wait(account);
    const left = limit - this.#served.get(account)!.length;
    const policy = `"p";q=${limit};w=${window / 1000}`;
    const headers = { ratelimit: `"p";r=${left};t=${Math.ceil(window / 1000)}`, 'ratelimit-policy': policy };
    return wait === 0 ? [200, headers] : [429, { ...headers, 'retry-after': (wait / 1000).toFixed(3) }];
  }

  /** Serves a call now, or says how many ms later the next one would be. */
  #wait(account: string): number {
    const { limit, window } = this.#options;
    const now = performance.now();
    const served = (this.#served.get(account) ?? []).filter((at) => at > now - window);
    this.#served.set(account, served);
    if (served.length >= limit) return Math.max(1, served[0]! + window - now);
    served.push(now);
    return 0;
  }
}
