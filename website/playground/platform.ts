/** What the core uses of its platform when it counts in memory, in a browser: see `.vitepress/browser.ts`. */
export * from '../../packages/core/src/platform/web.js';

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
