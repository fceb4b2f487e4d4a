import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/**
 * Ends a response whose headers are sent although its request was denied: it cannot become a 429, and nobody else ends it. With a length that
 * it can no longer reach the connection ends, too, or its client would wait for the rest.
 */
export function endBegun(raw: ServerResponse | Http2ServerResponse): void {
  if (!raw.headersSent || raw.writableEnded || raw.destroyed) return;
  const broken = 'chunkedEncoding' in raw && !raw.chunkedEncoding && raw.shouldKeepAlive;
  const { socket } = raw;
  // A later `write` of others fails, and its callback says so; without a listener for the error Node would end the process.
  raw.on('error', () => {});
  raw.end(() => {
    if (broken) socket?.destroySoon();
  });
}
