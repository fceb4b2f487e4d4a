/** `#platform` without Node.js: edge runtimes and browsers. Only what the web's standards have; it loads without I/O, timers and random numbers. */
import type * as Node from './node.js';

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

  nextTick(callback: () => void): void {
    queueMicrotask(callback);
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
  'Or use upstashStore() of @sluice/upstash, which sends the calls of each request by themselves. ' +
  'Or count in each instance by itself, with memoryStore()';

export const jsonPath: typeof Node.jsonPath = () => {
  throw new RangeError(
    `Paths with [*] or a slice need the package jsonpath-plus, which needs Node.js, and ${NO_NODE}. ` +
      'Compute the key in a function: keyGenerator, or key of @sluice/fetch',
  );
};

/** The part of an emitter that stores use for their events. */
class WebEmitter {
  readonly #listeners = new Map<string, ((event: unknown) => void)[]>();

  on(event: string, listener: (event: unknown) => void): void {
    this.#listeners.set(event, [...(this.#listeners.get(event) ?? []), listener]);
  }

  off(event: string, listener: (event: unknown) => void): void {
    const left = [...(this.#listeners.get(event) ?? [])];
    const place = left.lastIndexOf(listener);
    if (place >= 0) left.splice(place, 1);
    this.#listeners.set(event, left);
  }

  emit(event: string, details: unknown): void {
    for (const listener of this.#listeners.get(event) ?? []) listener(details);
  }

  listenerCount(event: string): number {
    return this.#listeners.get(event)?.length ?? 0;
  }
}

export const EventEmitter = WebEmitter as unknown as typeof Node.EventEmitter;

/** Only connections to Redis use these. */
const absent = undefined as never;
export const errorMonitor: typeof Node.errorMonitor = absent;
export const ioredis: typeof Node.ioredis = absent;

/** The first 64: those up to 311. */
const PRIMES = Array.from({ length: 310 }, (_, i) => i + 2).filter(isPrime);
/** The first 32 bits of the fractional parts of the cube roots of these primes. */
const K = Uint32Array.from(PRIMES, (prime) => fraction(Math.cbrt(prime)));
/** The same of the square roots of the first eight. */
const START = Uint32Array.from(PRIMES.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));

function isPrime(number: number): boolean {
  for (let factor = 2; factor * factor <= number; factor += 1) if (number % factor === 0) return false;
  return true;
}

function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) >>> 0;
}

const rotated = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

/** SHA-256 (FIPS 180-4), for runtimes whose only digest returns a promise. */
function digest(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array((message.length + 72) & ~63);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(message.length / 2 ** 29));
  view.setUint32(padded.length - 4, message.length << 3);
  const state = START.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) addBlock(state, words, view, at);
  const result = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => {
    result.setUint32(4 * i, word);
  });
  return new Uint8Array(result.buffer);
}

function addBlock(state: Uint32Array, words: Uint32Array, view: DataView, at: number): void {
  for (let i = 0; i < 16; i += 1) words[i] = view.getUint32(at + 4 * i);
  for (let i = 16; i < 64; i += 1) {
    const [early, late] = [words[i - 15]!, words[i - 2]!];
    const s0 = rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3);
    const s1 = rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10);
    words[i] = words[i - 16]! + s0 + words[i - 7]! + s1;
  }
  let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
  for (let i = 0; i < 64; i += 1) {
    const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
    const first = (h + s1 + ((e & f) ^ (~e & g)) + K[i]! + words[i]!) | 0;
    const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
    const second = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, i) => {
    state[i]! += word;
  });
}
