import { createServer } from 'node:http';

/** A service with an exact limit in any window, some of which other users of the account take. */
export async function startService({ limit, window, latency, others }) {
  let served = [];
  let refused = 0;
  const wait = () => {
    const now = performance.now();
    served = served.filter((at) => at > now - window);
    if (served.length >= limit) return Math.max(1, served[0] + window - now);
    served.push(now);
    return 0;
  };
  const server = createServer((request, response) => {
    request.resume();
    const ms = wait();
    if (ms > 0) refused += 1;
    const headers = {
      RateLimit: `"p";r=${limit - served.length};t=1`,
      'RateLimit-Policy': `"p";q=${limit};w=${window / 1000}`,
    };
    if (ms > 0) headers['Retry-After'] = (ms / 1000).toFixed(3);
    setTimeout(() => response.writeHead(ms > 0 ? 429 : 200, headers).end('{}'), latency);
  });
  const other = others > 0 ? setInterval(wait, 1000 / (limit * others)) : undefined;
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    refused: () => refused,
    async stop() {
      clearInterval(other);
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
