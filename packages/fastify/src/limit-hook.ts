import { limitRequests, NodeResponseView } from '@sluice/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type RateLimitOptions, readOptions } from './options.js';
import { FastifyRequestView } from './request.js';

export type RateLimitHook = (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>;

/** Fastify keeps headers in its reply until it is sent. */
class FastifyResponseView extends NodeResponseView {
  readonly #reply: FastifyReply;

  constructor(reply: FastifyReply) {
    super(reply.raw);
    this.#reply = reply;
  }

  override get sent(): boolean {
    return this.#reply.sent || super.sent;
  }

  override get(name: string): unknown {
    return this.#reply.getHeader(name);
  }

  override set(name: string, value: string): void {
    this.#reply.header(name, value);
  }
}

/**
 * A hook that limits requests, and what closes its limiter.
 * @throws RangeError, TypeError naming the option that is wrong
 */
export function limitHook(options: RateLimitOptions): { hook: RateLimitHook; close(): Promise<void> } {
  const { shared, handler } = readOptions(options);
  const limit = limitRequests('rateLimit', shared);
  const hook: RateLimitHook = async (request, reply) => {
    const verdict = await limit.handle(
      new FastifyRequestView(request),
      new FastifyResponseView(reply),
      request,
    );
    if (verdict.outcome === 'gone') return reply.sent ? reply : reply.hijack();
    const { outcome, decision } = verdict;
    if (outcome === 'passed') {
      if (decision !== undefined) request.rateLimit = decision;
      return undefined;
    }
    if (handler !== undefined && decision !== undefined) {
      reply.code(shared.statusCode ?? 429);
      try {
        const answer = await handler(request, reply, decision);
        return reply.sent || answer === undefined ? reply : reply.send(answer);
      } catch (error) {
        reply.code(200); // Fastify gives an error its own status only where none was set
        throw error;
      }
    }
    const { status, type, body } = await verdict.reply();
    return reply.code(status).type(type).send(body);
  };
  return { hook, close: () => limit.close() };
}
