import { performance } from 'node:perf_hooks';
import type { Attributes, BatchObservableResult, Histogram, Meter, Observable } from '@opentelemetry/api';
import type { DegradedEvent, RecoveredEvent, StoreCallMessage } from '@sluice/core';
import { type AttributeNames, BoundedNames, ERROR_TYPE, NODE, STATE, STORE } from './attributes.js';
import { SampledHistogram } from './sampled-histogram.js';
import { type AnySeries, type Count, Series } from './series.js';

/** Buckets: calls in one script call. */
const SIZES = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512];
/** The most servers with their own time series: nodes of a cluster change. */
const NODES = 100;
/** Time after which the state of a server without calls is unknown, ms. It can have left its cluster. */
const UNKNOWN_AFTER = 600_000;

const STATES = ['ok', 'degraded'] as const;
type State = (typeof STATES)[number];

interface Server {
  readonly store: string;
  readonly node: string;
  /** Successful script calls. */
  readonly calls: Count;
  readonly sizes: SampledHistogram;
  readonly states: Readonly<Record<State, Attributes>>;
  /** Undefined until the server answered or failed. */
  state: State | undefined;
  /** Time of the last call, ms of `performance.now()`. */
  seenAt: number;
}

type StoreServer = Pick<StoreCallMessage, 'store' | 'node' | 'address'>;

/** Counts script calls to remote stores, and reports which servers are out. */
export class Stores {
  readonly #names = new BoundedNames(NODES);
  readonly #servers = new Map<string, Map<string, Server>>();
  readonly #calls;
  readonly #state: Observable;
  readonly #size: Histogram;
  readonly series: readonly AnySeries[];

  constructor(
    meter: Meter,
    private readonly names: AttributeNames,
  ) {
    this.#calls = new Series(
      meter.createObservableCounter('sluice.store.calls', {
        unit: '{call}',
        description: 'Script calls to stores.',
      }),
      [STORE, NODE, ERROR_TYPE] as const,
    );
    this.#state = meter.createObservableUpDownCounter('sluice.store.state', {
      unit: '1',
      description: '1 for the state of a store, 0 for the other one.',
    });
    this.#size = meter.createHistogram('sluice.store.batch.size', {
      unit: '{call}',
      description: 'Decisions in one script call.',
      advice: { explicitBucketBoundaries: SIZES },
    });
    this.series = [
      this.#calls,
      { instrument: this.#state, observe: (result) => this.#observeStates(result) },
    ];
  }

  called(message: StoreCallMessage): void {
    const { error, endedAt } = message;
    const server = this.#server(message, endedAt);
    if (error === undefined) {
      server.state ??= 'ok';
      server.calls.value += 1;
    } else {
      this.#calls.of(server.store, server.node, this.names.errorType(error)).value += 1;
    }
    if (server.sizes.takes(endedAt)) server.sizes.record(message.calls);
  }

  degraded(event: DegradedEvent): void {
    this.#server(event, performance.now()).state = 'degraded';
  }

  recovered(event: RecoveredEvent): void {
    this.#server(event, performance.now()).state = 'ok';
  }

  /** @param now ms of `performance.now()` */
  #server({ store, node, address }: StoreServer, now: number): Server {
    const name = this.#names.fold(node || address || '');
    const known = this.#servers.get(store)?.get(name);
    const server = known ?? this.#newServer(store, name);
    server.seenAt = now;
    return server;
  }

  #newServer(store: string, node: string): Server {
    const attributes = { [STORE]: store, [NODE]: node };
    const server: Server = {
      store,
      node,
      calls: this.#calls.of(store, node, undefined),
      sizes: new SampledHistogram(this.#size, attributes),
      states: { ok: { ...attributes, [STATE]: 'ok' }, degraded: { ...attributes, [STATE]: 'degraded' } },
      state: undefined,
      seenAt: 0,
    };
    const servers = this.#servers.get(store) ?? new Map<string, Server>();
    this.#servers.set(store, servers.set(node, server));
    return server;
  }

  #observeStates(result: BatchObservableResult): void {
    const oldest = performance.now() - UNKNOWN_AFTER;
    for (const { state, states, seenAt } of [...this.#servers.values()].flatMap((of) => [...of.values()])) {
      if (state === undefined || seenAt < oldest) continue;
      for (const each of STATES) result.observe(this.#state, each === state ? 1 : 0, states[each]);
    }
  }
}
