import { get } from 'node:http';
import { connect, type Socket } from 'node:net';
import * as support from '../../support/eventually.js';
import { within } from '../../support/within.js';

/** Something that a handler waits for. */
export function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  let reach = () => {};
  const atGate = new Promise<void>((resolve) => {
    reach = resolve;
  });
  const pass = async () => {
    reach();
    await opened;
    return { ok: true };
  };
  /** Resolves when the first call is at the gate. */
  const reached = () => within(atGate, 'a request reaches the gate');
  return { open, reached, pass };
}

/** Sends a request, and breaks its connection when `leave` is called. */
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
  #onData = () => {};

  constructor(url: string) {
    const { hostname, port } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    this.#socket.on('error', () => {}); // a server may close it at once
    this.#socket.on('data', (chunk) => {
      this.#received += chunk;
      this.#onData();
    });
    this.#all = new Promise((resolve) => this.#socket.once('close', () => resolve(this.#received)));
  }

  /** A request without a body, or a beginning of one. */
  send(path = '/', headers: Record<string, string> = {}): void {
    const lines = Object.entries({ Host: 'localhost', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.write(`GET ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  }

  write(raw: string): void {
    this.#socket.write(raw);
  }

  /** All that was received, when it matches. */
  async until(pattern: RegExp): Promise<string> {
    const matches = async () => {
      while (!pattern.test(this.#received)) await new Promise<void>((resolve) => (this.#onData = resolve));
      return this.#received;
    };
    return within(matches(), () => `${pattern} matches what the server sends: ${this.#received}`);
  }

  /** All that was received, when the server has closed. */
  closed(): Promise<string> {
    return within(this.#all, () => `the server closes the connection; it sent: ${this.#received}`);
  }

  leave(): void {
    this.#socket.destroy();
  }
}

/** Looks again at each turn: for what happens after a response, which no event announces. */
export const eventually = (look: () => Promise<boolean>): Promise<boolean> => support.eventually(look, 0);
