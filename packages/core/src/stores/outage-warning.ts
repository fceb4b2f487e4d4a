import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { warn } from '../warnings.js';

interface Outage {
  readonly address: string;
  warned: boolean;
  readonly since: number;
  /** Number of open stores that are affected. */
  stores: number;
}

// Process-wide, by address: shared by several stores, and by both copies of this package (ESM and CJS).
const slot = Symbol.for('sluice.outages');
const shared = globalThis as { [slot]?: Map<string, Outage> };
shared[slot] ??= new Map();
const outages = shared[slot];

/** Warns once when a server goes out, and once when it answers again, unless a listener gets the event. */
export class OutageWarning {
  #outage: Outage | undefined;
  #closed = false;

  /**
   * @param address address of the server, without a password; undefined turns the warnings off
   * @param heard whether a listener gets the event instead
   */
  constructor(
    readonly address: () => string | undefined,
    readonly heard: () => boolean,
  ) {}

  /** May be called for every failed call. */
  begin(error: StoreUnavailableError): void {
    // Calls also fail when their store is closed. That is no outage, and its end would never be reported.
    if (this.#closed || this.#outage !== undefined) return;
    const address = this.address();
    if (address === undefined) return;
    const outage = outages.get(address) ?? { address, warned: false, since: performance.now(), stores: 0 };
    outages.set(address, outage);
    outage.stores += 1;
    this.#outage = outage;
    if (outage.warned || this.heard()) return;
    outage.warned = true;
    warn(
      'SLUICE_STORE_OUT',
      `redisStore: ${address} is out: ${textOf(error)}. Until it answers again, each limiter uses its failurePolicy ` +
        "('local' unless set: each process counts by itself)",
    );
  }

  /** The server answers again: the outage is over for every store. May be called for every answer. */
  end(): void {
    if (this.#outage === undefined) return;
    const outage = this.#leave();
    if (outage === undefined) return;
    outages.delete(outage.address);
    if (!outage.warned) return;
    const seconds = ((performance.now() - outage.since) / 1000).toFixed(1);
    warn('SLUICE_STORE_OUT', `redisStore: ${outage.address} answers again, after ${seconds} s`);
  }

  /** The store is closed. Other stores may still wait for the end of the outage. */
  close(): void {
    this.#closed = true;
    const outage = this.#leave();
    if (outage === undefined) return;
    outage.stores -= 1;
    if (outage.stores === 0) outages.delete(outage.address);
  }

  /** The outage of this store, unless another store has reported its end. */
  #leave(): Outage | undefined {
    const outage = this.#outage;
    this.#outage = undefined;
    return outage !== undefined && outages.get(outage.address) === outage ? outage : undefined;
  }
}

/** For the start of a server: its calls will reject with this error, but there may be none for a while. */
export function warnOfSetUp(address: string, error: StoreConfigurationError): void {
  warn(
    'SLUICE_STORE_OUT',
    `redisStore: ${address} is not set up correctly: ${textOf(error)}. Every call rejects with this error until you fix it`,
  );
}

const textOf = ({ message }: Error): string => message.replace(/^redis store: /, '');
