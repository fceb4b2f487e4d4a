import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import type { Socket } from 'node:net';
import { getOrCreate } from '@sluice/core/internal';
import { finished } from '#platform';

export type NodeResponse = ServerResponse | Http2ServerResponse;
type Listener = (complete: boolean) => void;

/** All limits of a response share one listener: Node warns about more than ten. */
const responses = new WeakMap<NodeResponse, Listeners>();
const sockets = new WeakMap<Socket, Set<() => void>>();

/** Calls `listener` once when Node's response ends, complete or aborted; at once if it has ended already. */
export function onFinished(raw: NodeResponse, listener: Listener): void {
  getOrCreate(responses, raw, () => new Listeners(raw)).add(listener);
}

class Listeners {
  readonly #all = new Set<Listener>();
  #complete: boolean | undefined;

  constructor(raw: NodeResponse) {
    const stream = 'stream' in raw ? raw.stream : undefined;
    if ((stream ?? raw).destroyed) {
      // Not `finished`, which looks later: what the handler writes meanwhile would make this response complete.
      this.#complete = isComplete(raw);
      return;
    }
    // A response that is pipelined behind another has no socket yet, so it gets no event when the connection breaks.
    const { socket } = raw.req ?? {};
    const leave =
      raw.socket === null && socket ? onClose(socket as Socket, () => this.#end(false)) : undefined;
    finished(raw, { readable: false }, (error) => {
      leave?.();
      // HTTP/2 reports no error when a client disconnects.
      this.#end((error === undefined || error === null) && (stream === undefined || isComplete(raw)));
    });
  }

  add(listener: Listener): void {
    if (this.#complete === undefined) this.#all.add(listener);
    else listener(this.#complete);
  }

  #end(complete: boolean): void {
    if (this.#complete !== undefined) return;
    this.#complete = complete;
    for (const listener of this.#all) listener(complete);
    this.#all.clear();
  }
}

const isComplete = (raw: NodeResponse): boolean => raw.writableEnded && raw.writableFinished;

/** @returns a function that removes the listener */
function onClose(socket: Socket, listener: () => void): () => void {
  if (socket.destroyed) process.nextTick(listener);
  const listeners = getOrCreate(sockets, socket, () => {
    const all = new Set<() => void>();
    socket.once('close', () => {
      for (const each of all) each();
    });
    return all;
  });
  listeners.add(listener);
  return () => listeners.delete(listener);
}
