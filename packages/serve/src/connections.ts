import type { Server, Socket } from 'node:net';

/** The open connections of a server. Node.js waits for those that have sent nothing, and gRPC for all. */
export class Connections {
  readonly #open = new Set<Socket>();

  constructor(readonly server: Server) {
    server.on('connection', (socket: Socket) => {
      this.#open.add(socket);
      socket.once('close', () => this.#open.delete(socket));
    });
  }

  /** Ends those that have sent nothing. */
  destroySilent(): void {
    for (const socket of this.#open) if (socket.bytesRead === 0) socket.destroy();
  }

  destroy(): void {
    for (const socket of this.#open) socket.destroy();
  }
}
