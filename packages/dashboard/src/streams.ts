import { performance } from 'node:perf_hooks';
import { answer } from './answers.js';

/** The most concurrent streams. A browser tab has up to two. */
const MOST = 50;
/** Interval of comments in an idle stream, which keep proxies from closing it, ms. */
const HEARTBEAT = 15_000;
/** The longest time of a stream, ms. Then the page opens another one, and `authorize` decides again. */
const LONGEST = 300_000;
/** The most unsent bytes. A slower client loses its stream. */
const BEHIND = 4_000_000;
/** Time in which a client reads the rest of a stream that has ended, ms. */
const REST = 5_000;

/** Sends an event. */
export type Send = (event: string, data: unknown) => void;

/** Starts sending, and returns a function that stops it. */
export type Source = (send: Send) => () => void;

/** The open streams of server-sent events. */
export class Streams {
  readonly #open = new Set<() => void>();
  #closed = false;

  constructor(private readonly longest = LONGEST) {}

  open(source: Source, signal: AbortSignal): Response {
    if (this.#closed) return answer(503, 'The page is closed\n');
    if (this.#open.size >= MOST) return answer(503, 'Too many open pages\n', { 'Retry-After': '10' });
    let end: () => void;
    const stream = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          end = this.#begin(source, controller, signal);
        },
        cancel: () => end(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: BEHIND }),
    );
    return answer(200, stream, { 'Content-Type': 'text/event-stream', 'X-Accel-Buffering': 'no' });
  }

  /** Ends all streams, and refuses new ones. */
  close(): void {
    this.#closed = true;
    for (const end of [...this.#open]) end();
  }

  #begin(
    source: Source,
    controller: ReadableStreamDefaultController<Uint8Array>,
    signal: AbortSignal,
  ): () => void {
    const bytes = new TextEncoder();
    const until = performance.now() + this.longest;
    let ended = false;
    const write = (text: string) => {
      if (ended) return;
      controller.enqueue(bytes.encode(text));
      if (controller.desiredSize! <= 0 || performance.now() > until) end();
    };
    // An error drops the unsent bytes, and ends the connection: both would stay for as long as a client that does not read.
    const drop = () => controller.error(new Error('The client does not read'));
    const end = () => {
      if (ended) return;
      ended = true;
      if (controller.desiredSize! <= 0) drop();
      else setTimeout(drop, REST).unref();
      clearInterval(heartbeat);
      signal.removeEventListener('abort', end);
      this.#open.delete(end);
      stop?.();
      try {
        controller.close();
      } catch {
        // The client canceled the stream, or was dropped.
      }
    };
    let stop: (() => void) | undefined;
    const heartbeat = setInterval(() => write(':\n\n'), HEARTBEAT).unref();
    this.#open.add(end);
    signal.addEventListener('abort', end);
    stop = source((event, data) => write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`));
    if (ended) stop();
    if (signal.aborted) end();
    return end;
  }
}
