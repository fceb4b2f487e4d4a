import type { Socket } from 'node:net';
import { setImmediate, setTimeout } from '../../native-timers.js';
import type { RedisClient } from './client.js';
import { isSocketTimeout } from './errors.js';

/** ms in which a connection can still show that it is alive, after its `socketTimeout`. */
const GRACE = 100;
const guarded = new WeakSet<object>();

/**
 * ioredis destroys a socket that received nothing for `socketTimeout`. Its timer fires before the socket is read. If the event loop was
 * blocked that long, the answers have arrived but are unread, and Redis has counted the calls. So the socket is read first, and destroyed
 * only if it had no data. This applies to the client's current socket; call it again for the next one.
 */
export function readBeforeTimeout({ stream }: RedisClient): void {
  const socket = stream as Socket | null | undefined;
  if (typeof socket?.destroy !== 'function' || guarded.has(socket)) return;
  guarded.add(socket);
  const destroy = socket.destroy.bind(socket);
  socket.destroy = (error?: Error) => {
    if (!isSocketTimeout(error)) return destroy(error);
    const before = socket.bytesRead;
    const destroyIfSilent = () => {
      if (socket.bytesRead === before) destroy(error);
    };
    // Timers fire before sockets are read, immediates after.
    setTimeout(() => setImmediate(destroyIfSilent), GRACE).unref();
    return socket;
  };
}

/**
 * Runs `commands` so that they leave in one write for each node of a cluster: a write to a socket costs as much as the rest of a command.
 * Only a Cluster of ioredis shows its sockets; commands of other clients leave one by one.
 */
export function inOneWrite(client: RedisClient | undefined, commands: () => void): void {
  const sockets = (client?.nodes?.('master') ?? [])
    .map(({ stream }) => stream as Partial<Socket> | undefined)
    .filter((socket): socket is Socket => typeof socket?.cork === 'function');
  for (const socket of sockets) socket.cork();
  try {
    commands();
  } finally {
    for (const socket of sockets) socket.uncork();
  }
}
