import { get } from 'node:http';
import { connect, type Socket } from 'node:net';

/** Something that a handler waits for. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reach = () => {};
  const reached = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const pass = async () => {
    reach();
    await opened;
    return { ok: true };
  };
  return { open, reached, pass };
}

/** Asks, and is gone when `leave` is called. */
export function visitor(url: string, headers: Record<string, string> = {}) {
  const request = get(url, { headers });
  request.on('error', () => {}); // its own end
  return { leave: () => request.destroy() };
}

/** A connection on which a test writes what it likes. */
export class RawClient {
  readonly #socket: Socket;
  readonly #all: Promise<string>;
  #received = '';
  #heard = () => {};

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('error', () => {}); // a server may close it at once
    this.#socket.on('data', (chunk) => {
      this.#received += chunk;
      this.#heard();
    });
    this.#all = new Promise((resolve) => this.#socket.once('close', () => resolve(this.#received)));
  }

  /** A request without a body, or a beginning of one. */
  ask(path = '/', headers: Record<string, string> = {}): void {
    const lines = Object.entries({ Host: 'localhost', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  write(raw: string): void {
    this.#socket.write(raw);
  }

  /** All that came, when this has come. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) await new Promise<void>((resolve) => (this.#heard = resolve));
    return this.#received;
  }

  /** All that came, when the server has closed. */
  closed(): Promise<string> {
    return this.#all;
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/** Asks again until it is so: for what happens after a response, which no event announces. */
export async function eventually(so: () => Promise<boolean>): Promise<void> {
  while (!(await so())) await new Promise(setImmediate);
}
