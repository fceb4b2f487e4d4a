import type { StoreConfigurationError, StoreUnavailableError } from '../errors.js';
import { warn } from '../warnings.js';

interface Outage {
  /** Has a warning been given for it? */
  told: boolean;
  readonly since: number;
  /** Stores that met it and have not been closed. */
  stores: number;
}

// One list for the whole process, by address: of several stores, and of both copies of this package (ESM beside CJS).
const slot = Symbol.for('sluice.outages');
const shared = globalThis as { [slot]?: Map<string, Outage> };
shared[slot] ??= new Map();
const outages = shared[slot];

/** Warns once when a server is out, and once when it answers again, where no listener is told. */
export class OutageWarning {
  #outage: Outage | undefined;
  #closed = false;

  /**
   * @param address of the server, without a password; undefined: this store gives no warnings
   * @param heard whether a listener is told instead
   */
  constructor(
    readonly address: () => string | undefined,
    readonly heard: () => boolean,
  ) {}

  /** May be called for each call that fails. */
  begin(error: StoreUnavailableError): void {
    // Calls that the close of their store ends fail too: that is no outage, and nobody would tell of its end.
    if (this.#closed || this.#outage !== undefined) return;
    const address = this.address();
    if (address === undefined) return;
    const outage = outages.get(address) ?? { told: false, since: performance.now(), stores: 0 };
    outages.set(address, outage);
    outage.stores += 1;
    this.#outage = outage;
    if (outage.told || this.heard()) return;
    outage.told = true;
    warn(
      'SLUICE_STORE_OUT',
      `redisStore: ${address} is out: ${textOf(error)}. Until it answers again each limiter decides by its failurePolicy ` +
        "('local' by default: each process counts by itself)",
    );
  }

  /** It answers again: the outage is over for every store. */
  end(): void {
    const outage = this.#outage;
    const address = this.address();
    this.#outage = undefined;
    if (outage === undefined || address === undefined || outages.get(address) !== outage) return;
    outages.delete(address);
    if (!outage.told) return;
    const seconds = ((performance.now() - outage.since) / 1000).toFixed(1);
    warn('SLUICE_STORE_OUT', `redisStore: ${address} answers again, after ${seconds} s`);
  }

  /** The store is closed: others may still wait for the end. */
  close(): void {
    this.#closed = true;
    const outage = this.#outage;
    const address = this.address();
    this.#outage = undefined;
    if (outage === undefined || address === undefined) return;
    outage.stores -= 1;
    if (outage.stores === 0 && outages.get(address) === outage) outages.delete(address);
  }
}

/** For a server that starts: its requests will be told this error, but there may be none for long. */
export function warnOfSetUp(address: string, error: StoreConfigurationError): void {
  warn(
    'SLUICE_STORE_OUT',
    `redisStore: ${address} is set up wrongly: ${textOf(error)}. Every call rejects with this error until it is mended`,
  );
}

const textOf = ({ message }: Error): string => message.replace(/^redis store: /, '');
