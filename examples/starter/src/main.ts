import { dashboard } from '@sluice/dashboard';
import { closeSluice } from '@sluice/decorators';
import { createApp } from './app.js';
import { LIVE_PAGE } from './page.js';
import { curlLine, routes, target } from './routes.js';
import { openStore } from './store.js';

const { PORT = '3000', DEADLINE = '100ms' } = process.env;

try {
  const { store, where } = openStore(process.env);
  // Everyone who reaches this address may see and change everything: it is a demo on 127.0.0.1.
  const live = dashboard(store, { authorize: () => true, write: true });
  const server = createApp(store, live, DEADLINE).listen(port(PORT), '127.0.0.1');
  server.once('error', (error: NodeJS.ErrnoException) => {
    fail(
      error.code === 'EADDRINUSE'
        ? `Port ${PORT} is in use: choose another, as in PORT=${Number(PORT) + 1} npm start`
        : error.message,
    );
  });
  server.once('listening', () => {
    const address = server.address();
    if (typeof address === 'object' && address !== null) console.log(welcome(address.port, where));
  });
  const stop = () => {
    server.close();
    server.closeAllConnections();
    void Promise.all([live.close(), closeSluice(), store.close()]);
  };
  process.once('SIGINT', stop).once('SIGTERM', stop);
} catch (error) {
  fail((error as Error).message);
}

function port(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new RangeError(`PORT must be a number from 0 to 65535, not ${JSON.stringify(text)}`);
  }
  return Number(text);
}

function fail(message: string): void {
  console.error(message);
  process.exitCode = 1;
}

function welcome(port: number, where: string): string {
  const url = `http://127.0.0.1:${port}`;
  const list = routes.map(
    (route) => `  ${route.method.padEnd(4)} ${target(route).padEnd(31)} ${route.limit}, by ${route.by}`,
  );
  const lines = routes.map((route) => `  ${curlLine(url, route)}`);
  return `Sluice demo at ${url}, limits ${where}

${list.join('\n')}

Open ${url} to send requests and see the limits live.
The live page alone: ${url}${LIVE_PAGE}/
Try these in a terminal, too; the 429 says in Retry-After when the next 200 comes:

${lines.join('\n')}
`;
}
