import type { StoreUnavailableError } from '../../packages/core/src/errors.js';
import type { Peer, Server } from './server.js';
import type { VirtualProcess } from './virtual-process.js';

/** The network between a process and the server, as it is now. */
export interface Network {
  /** µs that a message takes. */
  delay(): number;
  /** Is this message lost, without an error? */
  loses(): boolean;
}

/** µs after which a client gives a silent connection up. */
const PATIENCE = 350_000;

/** A connection of a process to the server. Messages arrive in order, late, or not at all. It can be reset, and is opened again. */
export class Connection implements Peer {
  granted: Peer['granted'] = () => {};
  /** Of the present connection. */
  #epoch = 0;
  #pending = new Set<(error: StoreUnavailableError) => void>();
  #lastRequest = 0;
  #lastReply = 0;

  constructor(
    readonly process: VirtualProcess,
    readonly server: Server,
    readonly network: Network,
    readonly noted: (what: string) => void,
  ) {
    server.peers.add(this);
  }

  /** Sends a request. `handle` runs at the server, and `reply` answers it. */
  ask<T>(what: string, handle: (reply: (value: T) => void) => void): Promise<T> {
    const { process, server, network } = this;
    if (!server.up) return Promise.reject(this.#error('connection refused', true));
    return new Promise((resolve, reject) => {
      const epoch = this.#epoch;
      const end = (error?: StoreUnavailableError) => {
        this.#pending.delete(end);
        if (error !== undefined) reject(error);
      };
      this.#pending.add(end);
      process.receive(process.now + PATIENCE, () => {
        if (this.#pending.has(end)) this.reset('no answer');
      });
      if (network.loses()) {
        this.noted(`the request ${what} is lost`);
        return;
      }
      const replied = (value: T) => {
        if (epoch !== this.#epoch) return;
        if (network.loses()) {
          this.noted(`the reply to ${what} is lost`);
          return;
        }
        this.#lastReply = Math.max(this.#lastReply, server.scheduler.now + network.delay());
        process.receive(this.#lastReply, () => {
          if (!this.#pending.has(end)) return;
          end();
          resolve(value);
        });
      };
      this.#lastRequest = Math.max(this.#lastRequest, process.now + network.delay());
      server.scheduler.at(this.#lastRequest, () => {
        // What was on its way when the connection was reset may still arrive.
        if (epoch === this.#epoch || process.random() < 0.5) server.serve(() => handle(replied));
      });
    });
  }

  /** The connection is lost: what was sent has no answer. */
  reset(why: string): void {
    this.noted(`its connection is reset: ${why}`);
    this.#epoch += 1;
    this.server.scheduler.at(this.server.scheduler.now + 200, () => this.server.lost(this));
    for (const end of [...this.#pending])
      this.process.receive(this.process.now, () => end(this.#error(why, false)));
    this.#pending = new Set();
  }

  #error(why: string, neverSent: boolean): StoreUnavailableError {
    const { StoreUnavailableError } = this.process.product;
    return new StoreUnavailableError(`the store: ${why}`, { reason: 'connection', neverSent });
  }
}
