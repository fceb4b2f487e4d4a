/**
 * What the core uses of Node.js when it counts in memory, for a browser. Vite puts this file in place of the modules of Node.js:
 * see `.vitepress/browser.ts`.
 */
export const { performance } = globalThis;
export const randomFillSync = <T extends Int32Array>(array: T): T => crypto.getRandomValues(array);
export const randomUUID = (): string => crypto.randomUUID();

/** Parts of the core that need these have no use here: they read requests of a server, talk to Redis, or shorten long keys. */
const absent = (name: string) =>
  function unavailable(): never {
    throw new Error(`${name} of Node.js is not in a browser`);
  };
export const BlockList = absent('BlockList');
export const createHash = absent('createHash');
export const hostname = absent('hostname');
export const isIP = absent('isIP');
export const isIPv6 = absent('isIPv6');
/** A page of the playground has no subscribers. */
export const channel = (name: string) => ({ name, hasSubscribers: false });
export const tracingChannel = () => {
  const [start, end, asyncStart, asyncEnd, error] = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'].map(
    channel,
  );
  return { start, end, asyncStart, asyncEnd, error };
};
/** Made when the core loads, not used afterwards. */
export class AsyncLocalStorage {}
export class EventEmitter {}
export const errorMonitor = undefined;
export const STATUS_CODES = undefined;
export const types = undefined;

const process = {
  hrtime(): [number, number] {
    const ms = performance.now();
    return [Math.floor(ms / 1000), (ms % 1000) * 1_000_000];
  },
  emitWarning: (message: string) => console.warn(message),
};
export default process;

/** The memory store copies keys through it. */
const Buffer = { from: (text: string) => ({ toString: () => text }) };

// Node.js, which renders the pages, keeps its own.
if (globalThis.process === undefined) Object.assign(globalThis, { process, Buffer });

// ManualClock lets ready promises run before it goes on. Timers of a browser take 4 ms, messages do not.
if (globalThis.setImmediate === undefined) {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  Object.assign(port1, { onmessage: () => waiting.shift()?.() });
  Object.assign(globalThis, {
    setImmediate(callback: () => void): void {
      waiting.push(callback);
      port2.postMessage(0);
    },
  });
}
