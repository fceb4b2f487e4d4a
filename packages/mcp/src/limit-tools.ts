import { describe, isRecord } from '@sluice/core/internal';
import { isOverHttp } from './credential.js';
import { ToolCallDeniedError } from './denial.js';
import { ToolLimits, toolLimits } from './tool-limits.js';
import type { CallExtra, ToolCall, ToolLimitsOptions } from './tool-limits-options.js';

/**
 * What `limitTools` uses of the `Server` of `@modelcontextprotocol/sdk`. The SDK declares its classes twice, for `import` and for
 * `require`, and for TypeScript the two are different types because of their private fields.
 */
export interface ProtocolServer {
  onerror?: ((error: Error) => void) | undefined;
  readonly fallbackRequestHandler?: unknown;
  setRequestHandler(schema: never, handler: never): void;
}

/** A server of `@modelcontextprotocol/sdk`: an `McpServer`, or the `Server` under it. */
export type LimitableServer = ProtocolServer | { readonly server: ProtocolServer };

type Handler = (request: { readonly params?: unknown }, extra: CallExtra) => Promise<unknown>;

const METHOD = 'tools/call';
const limited = new WeakSet<object>();

/**
 * Limits the calls of a server's tools, also of tools that are registered later.
 * @param limits what `toolLimits` returned. Options are enough for a server that has no others beside it, as over stdio
 * @returns the limits, to `close` them
 * @throws TypeError if it is no server, or has limits already; all errors of `toolLimits`
 */
export function limitTools(server: LimitableServer, limits: ToolLimits | ToolLimitsOptions): ToolLimits {
  const protocol = isRecord(server) && 'server' in server ? server.server : server;
  const handlers = handlersOf(protocol);
  if (limited.has(protocol)) {
    throw new TypeError(
      'limitTools: this server has limits already. Pass all of them in one call: { perCredential, perTool }',
    );
  }
  const isShared = limits instanceof ToolLimits;
  const used = isShared ? limits : toolLimits(limits);
  const report = (error: unknown) => {
    const known = error instanceof Error ? error : new Error(String(error));
    if (protocol.onerror === undefined) console.error(known);
    else protocol.onerror(known);
  };
  limited.add(protocol);
  // The SDK sets the handler when the first tool is registered, and offers no way to wrap it.
  handlers.get = (method) => {
    const handler = Map.prototype.get.call(handlers, method) as Handler | undefined;
    if (method !== METHOD) return handler;
    const known = handler ?? (protocol.fallbackRequestHandler as Handler | undefined); // as the SDK chooses
    return known && limitedHandler(known, used, isShared, report);
  };
  return used;
}

function handlersOf(protocol: unknown): Map<string, Handler> {
  const handlers = isRecord(protocol) ? protocol._requestHandlers : undefined;
  if (handlers instanceof Map) return handlers;
  throw new TypeError(
    `limitTools: pass an McpServer or a Server of @modelcontextprotocol/sdk 1.x, not ${describe(protocol)}`,
  );
}

function limitedHandler(
  handler: Handler,
  limits: ToolLimits,
  isShared: boolean,
  report: (error: unknown) => void,
): Handler {
  return async (request, extra) => {
    if (!isShared && isOverHttp(extra)) {
      throw new TypeError(
        'limitTools: over HTTP each session has a server of its own, and would have counts of its own. Create the limits once with ' +
          'toolLimits({ … }), and pass them to limitTools for each server',
      );
    }
    const params = isRecord(request.params) ? request.params : {};
    const isTask = params.task !== undefined;
    const admission = await ToolLimits.admit(limits, callOf(params, extra), isTask).catch((error) => {
      if (error instanceof ToolCallDeniedError) throw error;
      report(error);
      // The message may name the store, and goes to the client.
      throw new Error('The limits of this server failed');
    });
    if (admission.denied !== undefined) return admission.denied;
    try {
      extra.signal.throwIfAborted(); // the answer goes nowhere
      return await handler(request, extra);
    } finally {
      // Not awaited: the answer need not wait for the store. A lease that is not released expires.
      admission.end().catch(report);
    }
  };
}

/** The SDK checks the form of a call later. */
function callOf(params: Readonly<Record<string, unknown>>, extra: CallExtra): ToolCall {
  const { name, arguments: given } = params;
  return { tool: typeof name === 'string' ? name : '', arguments: isRecord(given) ? given : {}, extra };
}
