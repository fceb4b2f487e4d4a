import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { sharedByCopies } from '../maps.js';
import { isStoreRefusal } from '../store-refusal.js';
import { warn, warnOnce } from '../warnings.js';
import { withoutStop } from './circuit.js';

interface Outage {
  readonly address: string;
  /** With which cause, and whether that was a refused login. */
  warned: 'no' | 'out' | 'refused';
  readonly since: number;
  /** Number of open stores that are affected. */
  stores: number;
}

/** By address, for all stores of this process. */
const outages = sharedByCopies('outages', () => new Map<string, Outage>());

/** Warns once when a server goes out, and once when it answers again, unless a listener gets the event. */
export class OutageWarning {
  #outage: Outage | undefined;
  #closed = false;

  /**
   * @param store the function that makes the store, for texts
   * @param address address of the server, without a password; undefined turns the warnings off
   * @param heard whether a listener gets the event instead
   */
  constructor(
    readonly store: string,
    readonly address: () => string | undefined,
    readonly heard: () => boolean,
  ) {}

  /** May be called for every failed call. */
  begin(error: StoreUnavailableError): void {
    // Calls also fail when their store is closed. That is no outage, and its end would never be reported.
    if (this.#closed) return;
    const cause = isStoreRefusal(error) ? 'refused' : 'out';
    const outage = this.#outage ?? this.#join();
    // A person must mend a refused login, so it is reported also if the outage began with another cause.
    if (outage === undefined || outage.warned === cause || outage.warned === 'refused' || this.heard())
      return;
    outage.warned = cause;
    const { address } = outage;
    warn(
      'SLUICE_STORE_OUT',
      `${this.store}: ${address} is out: ${textOf(error)}. Until it answers again, each limiter uses its failurePolicy ` +
        "('local' unless set: each process counts by itself)",
    );
  }

  #join(): Outage | undefined {
    const address = this.address();
    if (address === undefined) return undefined;
    const outage = outages.get(address) ?? { address, warned: 'no', since: performance.now(), stores: 0 };
    outages.set(address, outage);
    outage.stores += 1;
    this.#outage = outage;
    return outage;
  }

  /** The server decides, but refuses some calls. May be called for every such call. */
  refused(error: StoreConfigurationError | StoreUnavailableError): void {
    const address = this.address();
    if (address === undefined) return;
    warnOnce(
      'SLUICE_STORE_OUT',
      address,
      `${this.store}: ${address} refuses calls: ${textOf(error)}. Until it takes them, each limiter uses its failurePolicy for them ` +
        "('local' unless set: each process counts by itself)",
    );
  }

  /** The server answers again: the outage is over for every store. May be called for every answer. */
  end(): void {
    if (this.#outage === undefined) return;
    const outage = this.#leave();
    if (outage === undefined) return;
    outages.delete(outage.address);
    if (outage.warned === 'no') return;
    const seconds = ((performance.now() - outage.since) / 1000).toFixed(1);
    warn('SLUICE_STORE_OUT', `${this.store}: ${outage.address} answers again, after ${seconds} s`);
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
export function warnOfSetUp(store: string, address: string, error: StoreConfigurationError): void {
  warn(
    'SLUICE_STORE_OUT',
    `${store}: ${address} is not set up correctly: ${textOf(error)}. Every call rejects with this error until you fix it`,
  );
}

const textOf = ({ message }: Error): string => withoutStop(message.replace(/^\w+Store: /, ''));
