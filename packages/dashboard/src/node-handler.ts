import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Dashboard } from './dashboard.js';
import { warnOfRequest } from './failure.js';

/** Properties that frameworks add to a request of Node.js. */
type NodeRequest = IncomingMessage & {
  /** Express: `url` with the path that the page is mounted at. */
  readonly originalUrl?: string;
  /** The parsed body, if a parser ran. */
  readonly body?: unknown;
};

/** Methods that a `Request` cannot have. */
const REFUSED = ['CONNECT', 'TRACE', 'TRACK'];

/**
 * The page for `node:http`, Express, Koa and Fastify. `authorize` receives the request of Node.js as its second argument, with all properties
 * that your sign-in added. An error is passed to `next`. Without `next` it causes a 500 and a warning, and the promise never rejects.
 */
export function nodeHandler<Context extends IncomingMessage = IncomingMessage>(
  page: Dashboard<Context>,
): (request: Context, response: ServerResponse, next?: (error: unknown) => void) => Promise<void> {
  const handle = page as (request: Request, context: Context) => Promise<Response>;
  return async (request, response, next) => {
    if (REFUSED.includes(request.method ?? '')) {
      response.writeHead(405, { Allow: 'GET, POST' }).end();
      return;
    }
    const url = urlOf(request);
    if (url === undefined) {
      response.writeHead(400).end();
      return;
    }
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    try {
      await send(await handle(webRequest(request, url, gone.signal), request), response);
    } catch (error) {
      if (response.destroyed) return; // the client disconnected
      if (next === undefined) fail(error, response);
      else next(error);
    }
  };
}

/** `node:http` ignores the promise of a handler, so a rejection would end the process. */
function fail(error: unknown, response: ServerResponse): void {
  warnOfRequest(error);
  if (response.headersSent) response.destroy();
  else response.writeHead(500, { 'Content-Type': 'text/plain' }).end('Internal Server Error\n');
}

/** @returns undefined for a target that names no page, such as `*` or `http://user:password@host/`; any client can send one */
function urlOf({ originalUrl, url = '/' }: NodeRequest): string | undefined {
  const target = originalUrl ?? url;
  const whole = target.startsWith('/') ? `http://127.0.0.1${target}` : target;
  if (!URL.canParse(whole)) return undefined;
  const { username, password, href } = new URL(whole);
  return username === '' && password === '' ? href : undefined; // a `Request` rejects credentials
}

function webRequest(request: NodeRequest, url: string, signal: AbortSignal): Request {
  const { method = 'GET', body } = request;
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    // Pseudo-headers of HTTP/2 begin with a colon.
    if (name === ':authority') headers.set('Host', `${value}`);
    else if (!name.startsWith(':')) for (const item of [value ?? []].flat()) headers.append(name, item);
  }
  const init: RequestInit & { duplex?: 'half' } = { method, headers, signal };
  if (method !== 'GET' && method !== 'HEAD') {
    // A parser in front of the page has read the stream.
    init.body = body === undefined ? (Readable.toWeb(request) as ReadableStream) : JSON.stringify(body);
    init.duplex = 'half';
  }
  return new Request(url, init);
}

async function send({ status, headers, body }: Response, response: ServerResponse): Promise<void> {
  response.writeHead(status, Object.fromEntries(headers));
  if (body === null) response.end();
  else await pipeline(Readable.fromWeb(body as import('node:stream/web').ReadableStream), response);
}
