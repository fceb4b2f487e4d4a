import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  STATUS_CODES,
} from 'node:http';
import { isKeyResolutionError } from '@sluice/core';
import { answerError, NodeResponseView, type Reply } from '@sluice/http';
import { Answer } from './answer.js';
import type { Call, Decider } from './decider.js';
import { BadCall, keyProblem, warnOfCall } from './errors.js';
import { bodyOf, decisionOf, forwardedCall, NAMED, namedCall, REQUEST, requestCall } from './json-calls.js';
import { OPENAPI } from './openapi.js';

/** The longest headers, bytes. Proxies accept more than the 16 KiB of Node.js, such as nginx 32 KiB, and add their own. */
const MOST_HEADERS = 65_536;

type Handler = (request: IncomingMessage, answer: Answer, url: URL) => Reply | Promise<Reply>;

const json = (value: object, status = 200, type = 'application/json'): Reply => {
  return { status, type, body: JSON.stringify(value) };
};
const problem = (status: number, detail: string): Reply => {
  const title = STATUS_CODES[status];
  return json({ type: 'about:blank', title, status, detail }, status, 'application/problem+json');
};

/**
 * The JSON API.
 * @param state what the server says about itself
 * @param requestTimeout how long a client may take to send a request, ms
 */
export function httpServer(
  decider: Decider,
  state: () => { readonly ready: boolean },
  requestTimeout: number,
): Server {
  const decided = async (call: Call, answer: Answer): Promise<Reply> => {
    const verdict = await decider.decide(call, answer);
    const reply = verdict.outcome === 'denied' ? await verdict.reply() : undefined;
    const response = reply && { status: reply.status, type: reply.type, body: reply.body };
    return json({
      ...decisionOf(verdict, answer.get('Retry-After')),
      headers: Object.fromEntries(answer),
      response,
    });
  };
  const auth: Handler = async ({ headers }, answer, { searchParams }) => {
    const denied = searchParams.get('denied');
    if (denied !== null && !['401', '403', '429'].includes(denied))
      throw new BadCall('denied must be 401, 403 or 429.');
    const verdict = await decider.decide(forwardedCall(headers), answer);
    if (verdict.outcome !== 'denied') return { status: 200, type: 'text/plain', body: '' };
    return { ...(await verdict.reply()), ...(denied !== null && { status: Number(denied) }) };
  };
  const routes: Readonly<Record<string, Handler>> = {
    'POST /v1/consume': async (request, answer) => {
      const body = await bodyOf(request, NAMED);
      const kind = decider.kindOf(body.rule);
      if (kind === undefined) throw new BadCall(`There is no rule ${body.rule}.`, 404);
      if (kind === 'unlimited') return json({ allowed: true, headers: {} });
      return decided(namedCall(body), answer);
    },
    'POST /v1/request': async (request, answer) =>
      decided(requestCall(await bodyOf(request, REQUEST)), answer),
    'GET /openapi.json': () => json(OPENAPI),
    'GET /health/live': () => json({ live: true }),
    'GET /health/ready': () => json(state(), state().ready ? 200 : 503),
  };

  const handle = async (...[request, response]: Parameters<RequestListener>): Promise<void> => {
    const answer = new Answer();
    new NodeResponseView(response).whenOver(() => answer.end()); // 'close' is not emitted for a pipelined response
    let reply: Reply;
    try {
      const url = new URL(`http://sluice${request.url?.startsWith('/') ? request.url : '/'}`);
      const name = `${request.method} ${url.pathname}`;
      const handler = url.pathname === '/v1/auth' ? auth : Object.hasOwn(routes, name) && routes[name];
      reply = handler
        ? await handler(request, answer, url)
        : problem(404, 'GET /openapi.json lists all paths.');
    } catch (error) {
      // The client disconnected.
      if (response.destroyed || error === request.errored) return;
      reply = errorReply(error, request, answer);
    }
    answer.set('Content-Type', reply.type).set('Cache-Control', 'no-store');
    // The rest of a body would be read as the next request, and a server that ends keeps no connection.
    if (!request.complete || !state().ready) answer.set('Connection', 'close');
    response.writeHead(reply.status, Object.fromEntries(answer)).end(reply.body);
  };

  const connectionsCheckingInterval = Math.min(1_000, requestTimeout);
  const timeouts = { requestTimeout, headersTimeout: requestTimeout, connectionsCheckingInterval };
  return createServer({ ...timeouts, maxHeaderSize: MOST_HEADERS }, (request, response) => {
    handle(request, response).catch((error) => {
      warnOfCall(error);
      response.destroy();
    });
  });
}

function errorReply(error: unknown, { headers }: IncomingMessage, answer: Answer): Reply {
  if (error instanceof BadCall) return problem(error.status, error.message);
  if (isKeyResolutionError(error)) return problem(400, keyProblem(error));
  const reply = answerError(error, headers.accept, answer);
  if (reply !== undefined) return reply;
  warnOfCall(error);
  return problem(500, 'The log of the server says why.');
}
