import { ManualClock, memoryStore, type Store } from '../../../packages/core/src/index.js';
import { type Upstream, type UpstreamOptions, upstream } from '../../../packages/outgoing/src/index.js';

/** A call as the upstream got it. */
export interface Received {
  /** From 1 on. */
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: string;
  /** ms since the test began, on its clock. */
  readonly at: number;
}

type Answer = Response | Error;

export const refused = (status: number, headers: Record<string, string> = {}, body: string | null = null) =>
  new Response(body, { status, headers });

export const retryAfter = (seconds: number | string) => refused(429, { 'retry-after': String(seconds) });

/** An upstream that is a function, on a clock that the test moves, and clients of it. Close it. */
export class ScriptedUpstream {
  readonly clock = new ManualClock();
  readonly store: Store = memoryStore({ clock: this.clock });
  readonly log: Received[] = [];
  /** The most calls at once since the test began. */
  overlap = 0;
  /** ms that an answer takes. */
  latency = 0;
  answer: (call: Received) => Answer | Promise<Answer> = () => new Response('ok');
  readonly #start = this.clock.now();
  readonly #clients: Upstream[] = [];
  #running = 0;

  /** Another process, if the store says so. */
  client(options: Partial<UpstreamOptions> = {}): Upstream {
    const client = upstream({
      name: 'fake',
      origin: 'https://api.example.com',
      store: this.store,
      fetch: (input, init) => this.#fetch(input as URL, init),
      ...options,
    });
    this.#clients.push(client);
    return client;
  }

  get paths(): string {
    return this.log.map(({ path }) => path).join(' ');
  }

  /** ms at which calls arrived. */
  get times(): readonly number[] {
    return this.log.map(({ at }) => at);
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    await this.store.close();
  }

  async #fetch(input: URL | Request, init: RequestInit = {}): Promise<Response> {
    init.signal?.throwIfAborted();
    const request = new Request(input, init);
    const at = (this.clock.now() - this.#start) / 1000;
    const { method, headers } = request;
    const path = new URL(request.url).pathname;
    const body = await request.text();
    const number = this.log.length + 1;
    const call: Received = { number, method, path, headers, body, at };
    this.log.push(call);
    this.#running += 1;
    this.overlap = Math.max(this.overlap, this.#running);
    try {
      const answer = await this.answer(call);
      if (this.latency > 0) await this.clock.sleep(this.latency * 1000);
      if (answer instanceof Error) throw answer;
      return answer;
    } finally {
      this.#running -= 1;
    }
  }
}
