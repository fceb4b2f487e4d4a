/** `#platform` without Node.js: edge runtimes and browsers. Only what the web's standards have; it loads without I/O, timers and random numbers. */
import type * as Node from './node.js';
import { digest } from './sha256.js';

export const { performance } = globalThis;
export const randomUUID = () => crypto.randomUUID();
export const randomFillSync = <T extends Int32Array<ArrayBuffer>>(array: T): T =>
  crypto.getRandomValues(array);
export const hostname = (): string => '';
export const hasBackground: boolean = false;
export const isNativeError = (value: unknown): boolean => value instanceof Error;
export const copyOfAscii = (text: string): string => ` ${text}`.slice(1);
export const fleet: typeof Node.fleet = () => ({
  cause: new Error('it watches with timers of its own, which edge runtimes do not have'),
});

export const process = {
  pid: 0,

  hrtime(): [seconds: number, nanos: number] {
    const ms = performance.now();
    return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1_000_000)];
  },

  emitWarning(message: string, { type, code, detail }: Record<'type' | 'code' | 'detail', string>): void {
    console.warn(`${type} [${code}]: ${message}\n${detail}`);
  },
};

export const sha256: typeof Node.sha256 = (text, encoding) => {
  const bytes = encoding === 'utf8' ? new TextEncoder().encode(text) : utf16(text);
  const base64 = btoa(String.fromCharCode(...digest(bytes)));
  return base64.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
};

function utf16(text: string): Uint8Array {
  const bytes = new Uint8Array(2 * text.length);
  for (let i = 0; i < text.length; i += 1) {
    const unit = text.charCodeAt(i);
    bytes[2 * i] = unit & 0xff;
    bytes[2 * i + 1] = unit >>> 8;
  }
  return bytes;
}

/** Listeners of one name, like a channel of `node:diagnostics_channel`. */
class WebChannel {
  readonly #listeners = new Set<(message: unknown, name: string) => void>();

  constructor(readonly name: string) {}

  get hasSubscribers(): boolean {
    return this.#listeners.size > 0;
  }

  subscribe(listener: (message: unknown, name: string) => void): void {
    this.#listeners.add(listener);
  }

  unsubscribe(listener: (message: unknown, name: string) => void): boolean {
    return this.#listeners.delete(listener);
  }

  publish(message: unknown): void {
    for (const listener of this.#listeners) {
      try {
        listener(message, this.name);
      } catch (error) {
        console.error(error); // a listener changes no decision
      }
    }
  }
}

const channels = new Map<string, WebChannel>();

export const channel = ((name: string) => {
  const known = channels.get(name) ?? new WebChannel(name);
  channels.set(name, known);
  return known;
}) as unknown as typeof Node.channel;

export const tracingChannel = ((name: string) => {
  const of = (event: string) => channel(`tracing:${name}:${event}`);
  return {
    start: of('start'),
    end: of('end'),
    asyncStart: of('asyncStart'),
    asyncEnd: of('asyncEnd'),
    error: of('error'),
  };
}) as unknown as typeof Node.tracingChannel;

const NO_NODE =
  "@sluice/core was loaded without the export condition 'node', as edge runtimes and browsers do";

export const noRedis: string | undefined =
  `redisStore works in Node.js only, and ${NO_NODE}. Requests of an edge runtime may not share a connection. ` +
  "In Next.js write export const runtime = 'nodejs', in a test choose the test environment 'node'. " +
  'Or count in each instance by itself, with memoryStore()';

export const jsonPath: typeof Node.jsonPath = () => {
  throw new RangeError(
    `Paths with [*] or a slice need the package jsonpath-plus, which needs Node.js, and ${NO_NODE}. ` +
      'Compute the key in a function: keyGenerator, or key of @sluice/fetch',
  );
};

/** Only the Redis store uses these. */
const absent = undefined as never;
export const EventEmitter: typeof Node.EventEmitter = absent;
export const errorMonitor: typeof Node.errorMonitor = absent;
export const ioredis: typeof Node.ioredis = absent;
