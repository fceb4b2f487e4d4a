import type { Socket } from 'node:net';
import type { RedisClient } from './redis-client.js';
import { isSocketTimeout } from './redis-errors.js';

/** Node's own: under fake ones a connection would never be judged. */
const { setTimeout, setImmediate } = globalThis;

/** ms that a connection has to show that it is alive, once its `socketTimeout` has passed. */
const GRACE = 100;
const guarded = new WeakSet<object>();

/**
 * ioredis destroys a socket when nothing was read from it for `socketTimeout`, by a timer that fires before the socket is read. In a process that
 * stood still for so long the answers are there, unread: Redis has counted the calls. So the socket is read first, and destroyed if it
 * had nothing. Holds for the current socket of the client; another one needs another call.
 */
export function readBeforeTimeout({ stream }: RedisClient): void {
  const socket = stream as Socket | null | undefined;
  if (typeof socket?.destroy !== 'function' || guarded.has(socket)) return;
  guarded.add(socket);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    if (!isSocketTimeout(error)) return destroy(error);
    const before = socket.bytesRead;
    const judge = () => {
      if (socket.bytesRead === before) destroy(error);
    };
    // Timers fire before sockets are read, immediates after that.
    setTimeout(() => setImmediate(judge), GRACE).unref();
    return socket;
  };
}
