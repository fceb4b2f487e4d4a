import { EventEmitter, performance, process } from '#platform';
import {
  isStoreConfigurationError,
  isStoreUnavailableError,
  type StoreConfigurationError,
  type StoreUnavailableError,
} from '../errors.js';
import { describe } from '../options.js';
import { isOutage, isStoreRefusal } from '../store-refusal.js';
import { DEGRADED, RECOVERED, STORE_ERROR } from '../telemetry/channels.js';
import type { StoreErrorEvent, StoreEvents } from '../telemetry/messages.js';
import { Circuit, type CircuitListener, type Ticket } from './circuit.js';
import { OutageWarning, warnOfSetUp } from './outage-warning.js';

const CHANNELS = { storeError: STORE_ERROR, degraded: DEGRADED, recovered: RECOVERED };
const EVENTS = Object.keys(CHANNELS);

/** ms without a failure after which the same failure is reported again. */
const EVENT_QUIET_PERIOD = 10_000;

/** The health of a remote store, and of each node of a cluster. */
export class StoreHealth {
  readonly #emitter = new EventEmitter();
  readonly #nodes = new Map<string, NodeHealth>();
  readonly #endings: (() => unknown)[] = [];
  #connectingAtStart: Promise<void> | undefined;
  #ended = false;
  /** Has the store ever answered? */
  isKnown = false;

  /**
   * @param connectionError the last error of the client's connection, or of a cluster node's
   * @param address address for warnings, without a password; undefined turns the warnings off
   * @param name the store's name, for its events
   * @param maker the function that makes such a store, for texts
   */
  constructor(
    readonly connectionError: (node?: string) => Error | undefined,
    readonly address: () => string | undefined = () => undefined,
    readonly name = '',
    readonly maker = `${name || 'redis'}Store`,
  ) {}

  /** @throws TypeError if there is no such event: its listener would never be called */
  on<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): void {
    if (!EVENTS.includes(event)) {
      throw new TypeError(`A store has no event ${describe(event)}; its events are ${EVENTS.join(', ')}`);
    }
    this.#emitter.on(event, listener);
  }

  off<E extends keyof StoreEvents>(event: E, listener: (event: StoreEvents[E]) => void): void {
    this.#emitter.off(event, listener);
  }

  /** @param name `host:port`; '' if there is only one server */
  node(name: string): NodeHealth {
    return this.#nodes.get(name) ?? this.#newNode(name);
  }

  #newNode(name: string): NodeHealth {
    const warning = new OutageWarning(
      this.maker,
      () => (name === '' ? this.address() : name),
      () => this.#emitter.listenerCount('degraded') > 0,
    );
    const node = new NodeHealth(name || undefined, this, warning, this.#emit);
    this.#nodes.set(name, node);
    if (this.#ended) node.end();
    return node;
  }

  /**
   * The store has answered. From now on only the circuit reports outages. In a cluster this is the answer of one node, and does not end the
   * outage of another.
   */
  answered(): void {
    if (this.isKnown) return;
    this.isKnown = true;
    this.#nodes.get('')?.answered();
  }

  /**
   * Connects the store at server start: one attempt, however many limits use it. If the store is out or set up wrongly, this resolves, and
   * a listener gets the error or a warning reports it: there may be no call for a while.
   */
  connectAtStart(connect: () => Promise<void>): Promise<void> {
    this.#connectingAtStart ??= connect().catch((error: unknown) => {
      if (!isStoreUnavailableError(error) && !isStoreConfigurationError(error)) throw error;
      this.node('').failed(error);
      const address = this.address();
      const heard = this.#emitter.listenerCount('storeError') > 0;
      if (isStoreConfigurationError(error) && address !== undefined && !heard)
        warnOfSetUp(this.maker, address, error);
    });
    return this.#connectingAtStart;
  }

  whenEnded(ending: () => unknown): void {
    this.#endings.push(ending);
  }

  end(): void {
    this.#ended = true;
    for (const ending of this.#endings.splice(0)) ending();
    for (const node of this.#nodes.values()) node.end();
  }

  // In the next tick, so that a listener that throws causes an uncaught exception, as with any emitter, and no failed decision.
  readonly #emit: Emit = (event, details) => {
    process.nextTick(() => {
      CHANNELS[event].publish(details as never);
      this.#emitter.emit(event, details);
    });
  };
}

type Emit = <E extends keyof StoreEvents>(event: E, details: StoreEvents[E]) => void;

/** The health of one server: its circuit, events and warnings. */
export class NodeHealth implements CircuitListener {
  readonly circuit = new Circuit(this);
  /** No failure since the last success, and no open warning: then a success changes nothing. */
  isWell = false;
  #lastReason: StoreErrorEvent['reason'] | undefined;
  #lastFailure = 0;

  constructor(
    /** Of a cluster: `host:port`. */
    readonly node: string | undefined,
    private readonly store: Pick<StoreHealth, 'connectionError' | 'address' | 'isKnown' | 'name'>,
    private readonly warning: OutageWarning,
    private readonly emit: Emit,
  ) {}

  opened(error: StoreUnavailableError): void {
    this.warning.begin(error);
    this.emit('degraded', { ...this.#eventOf(error), reason: error.reason, error });
  }

  closed(after: number): void {
    this.warning.end();
    const { store, node } = this;
    this.emit('recovered', { store: store.name, address: store.address(), node, after });
  }

  /** @param ticket the ticket of the decided call */
  succeeded(ticket: Ticket): void {
    this.circuit.succeeded(ticket);
    this.answered();
    this.isWell = this.circuit.closed;
  }

  /** Ends the warning, unless the circuit is open: then the outage ends when it closes. */
  answered(): void {
    if (this.circuit.closed) this.warning.end();
  }

  end(): void {
    this.circuit.end();
    this.warning.close();
  }

  /** Emits an event if the last failure had another reason, or was long ago. */
  failed(error: StoreUnavailableError | StoreConfigurationError): void {
    this.isWell = false;
    const now = performance.now();
    const known = error.reason === this.#lastReason && now - this.#lastFailure < EVENT_QUIET_PERIOD;
    this.#lastReason = error.reason;
    this.#lastFailure = now;
    if (!known) this.emit('storeError', this.#eventOf(error));
    // A wrong address is reported at the first call: the five failures that open the circuit may take a day.
    // Nor does a refused login end by itself.
    if (isOutage(error) && (!this.store.isKnown || isStoreRefusal(error))) this.warning.begin(error);
    if (error.reason === 'NOPERM') this.warning.refused(error);
  }

  #eventOf(error: StoreUnavailableError | StoreConfigurationError): StoreErrorEvent {
    const { store, node } = this;
    const connectionError = store.connectionError(node);
    const address = store.address();
    return { store: store.name, reason: error.reason, error, connectionError, address, node };
  }
}

/** For adapters with a start hook: the first request finds a connection. To require the store at start, await `store.connect()` first. */
export async function connectAtStart(
  store: { readonly health?: StoreHealth | undefined; connect?(): Promise<void> } | undefined,
): Promise<void> {
  if (store?.connect === undefined) return;
  const { health = new StoreHealth(() => undefined) } = store;
  await health.connectAtStart(() => store.connect!());
}
