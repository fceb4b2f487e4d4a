import {
  asError,
  isPromise,
  limitRequests,
  type OwnLimiter,
  ReplyView,
  type Verdict,
  withLimiter,
} from '@sluice/core';
import type { FastifyReply, FastifyRequest, HookHandlerDoneFunction } from 'fastify';
import { type RateLimitHookName, type RateLimitOptions, readOptions } from './options.js';
import { FastifyRequestView } from './request.js';

/** A hook, with the limiter behind it. */
export interface RateLimitHook extends OwnLimiter {
  (request: FastifyRequest, reply: FastifyReply): Promise<unknown>;
}

type Refusal = Exclude<Verdict, { outcome: 'passed' }>;

/** A limit as Fastify's hooks use it. */
export interface HookedLimit {
  /** As a promise, for hooks of a program's own. */
  readonly hook: RateLimitHook;
  /** As a callback: without a promise where none is needed, which is half of what a limit in memory costs. */
  readonly callback: (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;
  close(): Promise<void>;
}

/** The callback in the form of a hook: that of `preParsing` gets the body's stream, too. */
export const hookFor = (
  hook: RateLimitHookName,
  callback: HookedLimit['callback'],
): HookedLimit['callback'] =>
  hook === 'preParsing'
    ? (((request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: HookHandlerDoneFunction) =>
        callback(request, reply, done)) as never)
    : callback;

/** @throws RangeError, TypeError naming the option that is wrong */
export function limitHook(options: RateLimitOptions): HookedLimit {
  const { shared, handler } = readOptions(options);
  const limit = limitRequests('rateLimit', shared, ([request], decision) => {
    request.rateLimit = decision;
  });
  const decide = (request: FastifyRequest, reply: FastifyReply) =>
    limit.handle(new FastifyRequestView(request), new ReplyView(reply), request);

  /** @returns why the request does not go on, if it does not */
  const refused = (verdict: Verdict): Refusal | undefined =>
    verdict.outcome === 'passed' ? undefined : verdict;

  const answer = async (request: FastifyRequest, reply: FastifyReply, verdict: Refusal): Promise<unknown> => {
    if (verdict.outcome === 'gone') return reply.sent ? reply : reply.hijack();
    const { decision } = verdict;
    if (handler !== undefined && decision !== undefined) {
      reply.code(shared.statusCode ?? 429);
      try {
        const own = await handler(request, reply, decision);
        return reply.sent || own === undefined ? reply : reply.send(own);
      } catch (error) {
        reply.code(200); // Fastify gives an error its own status only where none was set
        throw asError('rateLimit', error);
      }
    }
    const { status, type, body } = await verdict.reply();
    return reply.code(status).type(type).send(body);
  };

  const hook = async (request: FastifyRequest, reply: FastifyReply) => {
    const refusal = refused(await decide(request, reply));
    if (refusal === undefined) return undefined;
    await answer(request, reply, refusal);
    // A client that leaves while onSend hooks are still at it ends that wait, too: Fastify would go on to the route.
    return reply.sent ? reply : reply.hijack();
  };
  const goOn = (
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    verdict: Verdict,
  ): void => {
    const refusal = refused(verdict);
    if (refusal === undefined) done();
    else answer(request, reply, refusal).catch(done);
  };
  return {
    hook: withLimiter(hook, limit),
    callback: (request, reply, done) => {
      let verdict: ReturnType<typeof decide>;
      try {
        verdict = decide(request, reply);
      } catch (error) {
        done(error as Error);
        return;
      }
      if (isPromise(verdict)) verdict.then((judged) => goOn(request, reply, done, judged), done);
      else goOn(request, reply, done, verdict);
    },
    close: () => limit.close(),
  };
}
