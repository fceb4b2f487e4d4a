import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';

/**
 * Ends a response that already sent its headers although its request was denied: it cannot become a 429, and no other code ends it.
 * If it announced a length that it can no longer reach, the connection also ends. Otherwise its client would wait for the rest.
 */
export function endBegun(raw: ServerResponse | Http2ServerResponse): void {
  if (!raw.headersSent || raw.writableEnded || raw.destroyed) return;
  const broken = 'chunkedEncoding' in raw && !raw.chunkedEncoding && raw.shouldKeepAlive;
  const { socket } = raw;
  // A later `write` fails, and its callback reports that. Without this listener the error would end the process.
  raw.on('error', () => {});
  raw.end(() => {
    if (broken) socket?.destroySoon();
  });
}
