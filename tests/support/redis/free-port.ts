import { type AddressInfo, connect, createServer } from 'node:net';

/** A port of 127.0.0.1 that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Whether a Redis answers at a port, also with NOAUTH. With `'loading'` LOADING is an answer, too. */
export function connects(port: number, until: 'ready' | 'loading' = 'ready'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    const answer = (ready: boolean) => {
      socket.destroy();
      resolve(ready);
    };
    socket.setTimeout(1_000, () => answer(false));
    socket.once('error', () => answer(false));
    socket.once('close', () => answer(false));
    socket.once('connect', () => socket.write('PING\r\n'));
    socket.once('data', (data) => answer(until === 'loading' || !data.toString().startsWith('-LOADING')));
  });
}
