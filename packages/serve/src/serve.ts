import type { AddressInfo, Server } from 'node:net';
import type { Duration } from '@sluice/core';
import {
  checkInteger,
  checkOptions,
  connectAtStart,
  describe,
  LONGEST_TIMER,
  toMicros,
} from '@sluice/core/internal';
import type { LoadedRules, Rules } from '@sluice/rules';
import { Connections } from './connections.js';
import { Decider } from './decider.js';
import { grpcListener, grpcServer } from './grpc-server.js';
import { httpServer } from './http-server.js';

/** How long gRPC has to tell its clients that their calls are cancelled, ms. */
const CANCELLING = 100;

export interface ServeOptions {
  /** The address to listen on. Default `127.0.0.1`. No call is authenticated: open it to your own network only. */
  readonly host?: string | undefined;
  /** The port of the JSON API. Default 8080; 0: a free port. */
  readonly port?: number | undefined;
  /** The port of Envoy's rate limit service. Default 8081; 0: a free port. */
  readonly grpcPort?: number | undefined;
  /** How long a client may take to send an HTTP request. Default `10s`. */
  readonly requestTimeout?: Duration | undefined;
  /** How long `close` waits for calls. Default `10s`. */
  readonly grace?: Duration | undefined;
}

/** Rules that are served. */
export interface ServedRules {
  readonly port: number;
  readonly grpcPort: number;
  /** Refuses new calls, waits for the others, and ends. Rules and store stay open. Can be called twice. */
  close(): Promise<void>;
}

/**
 * Answers calls of any language by the rules: over gRPC as Envoy's rate limit service, and over HTTP.
 * @throws TypeError, RangeError naming the invalid option; Error if it cannot listen
 */
export async function serve(rules: Rules, options: ServeOptions = {}): Promise<ServedRules> {
  checkOptions('serve', options, ['host', 'port', 'grpcPort', 'requestTimeout', 'grace']);
  if (typeof rules?.decide !== 'function')
    throw new TypeError(`serve: rules must come from loadRules or new Rules, not ${describe(rules)}`);
  const { host = '127.0.0.1', port = 8080, grpcPort = 8081 } = options;
  if (typeof host !== 'string' || host === '')
    throw new TypeError(`serve: host must be an address such as 127.0.0.1, not ${describe(host)}`);
  checkInteger('serve: port', port, 0, 65_535);
  checkInteger('serve: grpcPort', grpcPort, 0, 65_535);
  const requestTimeout = toMicros('serve: requestTimeout', options.requestTimeout ?? '10s', 1_000) / 1_000;
  const grace = Math.min(toMicros('serve: grace', options.grace ?? '10s', 0) / 1_000, LONGEST_TIMER);

  // A first call that connects outlasts Envoy's timeout, and Envoy passes it. If the store is out, the server starts after at most 2 s.
  await connectAtStart(rules.store);
  let ready = true;
  const decider = new Decider(rules);
  const grpc = grpcServer(decider, () => ready);
  const overGrpc = new Connections(grpcListener(grpc));
  const http = httpServer(decider, () => ({ ready, ...stateOf(rules) }), requestTimeout);
  const overHttp = new Connections(http);
  const end = async (): Promise<void> => {
    ready = false;
    const timer = setTimeout(() => {
      grpc.forceShutdown();
      http.closeAllConnections();
      setTimeout(() => overGrpc.destroy(), CANCELLING).unref();
    }, grace);
    const stops = [
      grpc.tryShutdown.bind(grpc),
      http.close.bind(http),
      overGrpc.server.close.bind(overGrpc.server),
    ];
    const stopped = Promise.all(stops.map((stop) => new Promise<void>((done) => stop(() => done()))));
    overHttp.destroySilent();
    await stopped;
    clearTimeout(timer);
    await decider.settled();
  };
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= end();
    return closing;
  };
  try {
    return {
      port: await listen(http, 'HTTP', host, port),
      grpcPort: await listen(overGrpc.server, 'gRPC', host, grpcPort),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @returns the port @throws Error of Node.js */
function listen(server: Server, protocol: string, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause) =>
      reject(new Error(`serve: cannot listen for ${protocol}: ${cause.message}`, { cause })),
    );
    server.listen(port, host, () => resolve((server.address() as AddressInfo).port));
  });
}

/** A server whose store is out is ready, too: the failure policy decides. */
function stateOf(rules: Rules) {
  const { version } = rules.ruleSet;
  const { problem } = rules as Partial<LoadedRules>;
  return { store: rules.store.name, rules: { name: rules.name, version, problem: problem?.message } };
}
