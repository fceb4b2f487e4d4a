import { EventEmitter } from 'node:events';
import { performance } from 'node:perf_hooks';
import {
  type ConfigurationReason,
  isStoreConfigurationError,
  isStoreUnavailableError,
  type StoreConfigurationError,
  type StoreUnavailableError,
  type UnavailableReason,
} from '../errors.js';
import { describe } from '../options.js';
import { Breaker, type Ticket } from './circuit.js';
import { OutageWarning, warnOfSetUp } from './outage-warning.js';

/** What is wrong with a store, or with one node of a cluster. */
export interface StoreErrorEvent {
  readonly reason: UnavailableReason | ConfigurationReason;
  readonly error: StoreUnavailableError | StoreConfigurationError;
  /** The last error of the client's connection, if it has not been well since. */
  readonly connectionError: Error | undefined;
  /** Of a cluster: the node, `host:port`. */
  readonly node: string | undefined;
}

/** The store is known to be out: failure policies decide. */
export interface DegradedEvent extends StoreErrorEvent {
  readonly reason: UnavailableReason;
  readonly error: StoreUnavailableError;
}

/** The store decides again. */
export interface RecoveredEvent {
  /** Of a cluster: the node, `host:port`. */
  readonly node: string | undefined;
  /** How long it was out, in ms. */
  readonly after: number;
}

/** What a store tells those who listen with `store.on`, once for each change and not for each call. */
export interface StoreEvents {
  /**
   * A call failed for another reason than the last that did, or the first after ten seconds without. Also for errors that no failure policy
   * speaks for.
   */
  readonly storeError: StoreErrorEvent;
  /** Five calls in a row had no answer: from now on the store, or this node, is not asked, and failure policies decide. */
  readonly degraded: DegradedEvent;
  /** It has decided a call again, and decides all that come. */
  readonly recovered: RecoveredEvent;
}

const EVENTS: readonly (keyof StoreEvents)[] = ['storeError', 'degraded', 'recovered'];

/** ms; what fails after so long without a failure is told again. */
const CALM = 10_000;

/** What is known of whether a remote store, or each node of a cluster, is well. */
export class StoreHealth {
  readonly #emitter = new EventEmitter();
  readonly #nodes = new Map<string, NodeHealth>();
  readonly #endings: (() => unknown)[] = [];
  #ended = false;

  /** Has the store ever answered? */
  #known = false;

  /**
   * @param connectionError the last error of the client's connection, or of a cluster node's
   * @param address address for warnings, without a password; undefined turns the warnings off
   */
  constructor(
    readonly connectionError: (node?: string) => Error | undefined,
    readonly address: () => string | undefined = () => undefined,
  ) {}

  /** @throws TypeError when there is no such event: nobody would ever be told */
  on<E extends keyof StoreEvents>(event: E, listener: (told: StoreEvents[E]) => void): void {
    if (!EVENTS.includes(event)) {
      throw new TypeError(`A store has no event ${describe(event)}; its events are ${EVENTS.join(', ')}`);
    }
    this.#emitter.on(event, listener);
  }

  off<E extends keyof StoreEvents>(event: E, listener: (told: StoreEvents[E]) => void): void {
    this.#emitter.off(event, listener);
  }

  /** @param name `host:port`; empty where there is one server only */
  node(name: string): NodeHealth {
    let node = this.#nodes.get(name);
    if (node === undefined) {
      node = new NodeHealth(name === '' ? undefined : name, {
        connectionError: this.connectionError,
        tell: this.#tell,
        known: () => this.#known,
        warning: new OutageWarning(
          () => (name === '' ? this.address() : name),
          () => this.#emitter.listenerCount('degraded') > 0,
        ),
      });
      this.#nodes.set(name, node);
      if (this.#ended) node.end();
    }
    return node;
  }

  /**
   * The store has answered. From now on only the breaker reports outages. In a cluster this is the answer of one node, and does not end the
   * outage of another.
   */
  answered(): void {
    if (this.#known) return;
    this.#known = true;
    this.#nodes.get('')?.answered();
  }

  /** The store could not be connected at server start. There may be no call for a while. */
  failedAtStart(error: StoreUnavailableError | StoreConfigurationError): void {
    this.node('').failed(error);
    const address = this.address();
    const heard = this.#emitter.listenerCount('storeError') > 0;
    if (isStoreConfigurationError(error) && address !== undefined && !heard) warnOfSetUp(address, error);
  }

  /** What else ends with the store. */
  whenEnded(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  /** Looks after no node any more. */
  end(): void {
    this.#ended = true;
    for (const ending of this.#endings.splice(0)) ending();
    for (const node of this.#nodes.values()) node.end();
  }

  // Later, so that a listener that throws is an uncaught exception as with any emitter, and not a decision that failed.
  readonly #tell: Tell = (event, told) => {
    process.nextTick(() => this.#emitter.emit(event, told));
  };
}

type Tell = <E extends keyof StoreEvents>(event: E, told: StoreEvents[E]) => void;

/** The options that a node shares with its store. */
interface NodeOptions {
  readonly connectionError: StoreHealth['connectionError'];
  readonly tell: Tell;
  readonly warning: OutageWarning;
  /** Has the store ever answered? */
  known(): boolean;
}

export class NodeHealth {
  readonly breaker: Breaker;
  readonly #node: string | undefined;
  readonly #options: NodeOptions;
  #reason: StoreErrorEvent['reason'] | undefined;
  #failed = 0;

  constructor(node: string | undefined, options: NodeOptions) {
    const { tell, warning } = options;
    this.#node = node;
    this.#options = options;
    this.breaker = new Breaker({
      opened: (error) => {
        warning.begin(error);
        tell('degraded', { ...this.#event(error), reason: error.reason, error });
      },
      closed: (after) => {
        warning.end();
        tell('recovered', { node, after });
      },
    });
  }

  /** @param ticket the ticket of the decided call */
  succeeded(ticket: Ticket): void {
    this.breaker.succeeded(ticket);
    this.answered();
  }

  /** Ends the warning, unless the breaker is open: then the outage ends when it closes. */
  answered(): void {
    if (this.breaker.closed) this.#options.warning.end();
  }

  end(): void {
    this.breaker.end();
    this.#options.warning.close();
  }

  /** Tells of an error if the last one had another reason, or was long ago. */
  failed(error: StoreUnavailableError | StoreConfigurationError): void {
    const now = performance.now();
    const known = error.reason === this.#reason && now - this.#failed < CALM;
    this.#reason = error.reason;
    this.#failed = now;
    if (!known) this.#options.tell('storeError', this.#event(error));
    // A wrong address is reported at the first call: the five failures that open the breaker may take a day.
    if (!this.#options.known() && isStoreUnavailableError(error)) this.#options.warning.begin(error);
  }

  #event(error: StoreUnavailableError | StoreConfigurationError): StoreErrorEvent {
    const connectionError = this.#options.connectionError(this.#node);
    return { reason: error.reason, error, connectionError, node: this.#node };
  }
}
