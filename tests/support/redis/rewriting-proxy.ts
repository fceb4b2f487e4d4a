import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface RewritingProxy {
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * A proxy before a Redis that changes the texts of its replies (RESP 2), for replies that no server here sends: another version or time.
 * @param targets ports of 127.0.0.1; each connection gets the next one
 * @param rewrite gets each bulk string of a reply, and returns what the client gets
 */
export function startRewritingProxy(
  targets: number | readonly number[],
  rewrite: (text: string) => string = (text) => text,
): Promise<RewritingProxy> {
  const ports = [targets].flat();
  const sockets = new Set<Socket>();
  let count = 0;
  const server = createServer((client) => {
    const redis = connect(ports[count++ % ports.length]!, '127.0.0.1');
    for (const socket of [client, redis]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        client.destroy();
        redis.destroy();
      });
    }
    let waiting = '';
    client.on('data', (data) => redis.write(data));
    redis.on('data', (data) => {
      const [done, rest] = rewritten(waiting + data.toString('latin1'), rewrite);
      waiting = rest;
      if (done !== '') client.write(Buffer.from(done, 'latin1'));
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      const close = () =>
        new Promise<void>((done) => {
          for (const socket of sockets) socket.destroy();
          server.close(() => done());
        });
      resolve({ port, url: `redis://127.0.0.1:${port}`, close });
    });
  });
}

/** @returns the complete part, and the beginning of an incomplete bulk string */
function rewritten(data: string, rewrite: (text: string) => string): [done: string, rest: string] {
  let done = '';
  let at = 0;
  while (at < data.length) {
    const end = data.indexOf('\r\n', at);
    if (end < 0) break;
    const length = data[at] === '$' ? Number(data.slice(at + 1, end)) : -1;
    const next = length < 0 ? end + 2 : end + 2 + length + 2;
    if (next > data.length) break;
    if (length < 0) done += data.slice(at, next);
    else {
      const text = rewrite(data.slice(end + 2, next - 2));
      done += `$${text.length}\r\n${text}\r\n`;
    }
    at = next;
  }
  return [done, data.slice(at)];
}
