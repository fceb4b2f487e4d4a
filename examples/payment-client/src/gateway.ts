import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Arrival {
  readonly moment: number;
  readonly taken: boolean;
}

/**
 * A model of the partner's payment system: it takes `limit` calls in any window of this length, wherever the window begins, and
 * refuses the next one.
 */
export class Gateway {
  readonly arrivals: Arrival[] = [];
  #taken: readonly number[] = [];

  /** @param window in the unit of the moments that are passed to `arrive` */
  constructor(
    readonly limit: number,
    readonly window: number,
  ) {}

  get refused(): number {
    return this.arrivals.filter(({ taken }) => !taken).length;
  }

  /** @returns whether the call is taken. Calls may be passed in any order: only their moments count. */
  arrive(moment: number): boolean {
    const calls = [...this.#taken, moment].sort((a, b) => a - b);
    // With this call, are there `limit` + 1 calls in less than a window?
    const crowded = calls.some((first, i) => calls[i + this.limit]! - first < this.window);
    if (!crowded) this.#taken = calls;
    this.arrivals.push({ moment, taken: !crowded });
    return !crowded;
  }

  /** Serves 200, or 429 for a refused call. A HEAD request is not counted: clients connect with it. */
  async listen(momentOf: (request: IncomingMessage) => number = () => performance.now()) {
    const server = createServer((request, response) => {
      const taken = request.method === 'HEAD' || this.arrive(momentOf(request));
      response.writeHead(taken ? 200 : 429).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/payments`,
      close: async () => {
        const closed = new Promise((resolve) => server.close(resolve));
        server.closeAllConnections();
        await closed;
      },
    };
  }
}
