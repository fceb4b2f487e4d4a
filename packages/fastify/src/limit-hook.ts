import { isPromise } from '@sluice/core/internal';
import {
  asError,
  keyForFunctions,
  type OwnLimiter,
  ReplyView,
  RequestLimit,
  type Verdict,
  withLimiter,
} from '@sluice/http';
import type {
  FastifyReply,
  FastifyRequest,
  HookHandlerDoneFunction,
  RawServerBase,
  RouteGenericInterface,
} from 'fastify';
import { answerWith } from './answer.js';
import { Bans } from './bans.js';
import { type RateLimitHookName, type RateLimitOptions, readOptions } from './options.js';
import { type RateLimitCheck, rateLimitCheck } from './rate-limit-check.js';
import { FastifyRequestView } from './request.js';

/** A hook with its limiter. Its types fit HTTP, HTTPS and HTTP/2 servers. */
export interface RateLimitHook extends OwnLimiter {
  (
    request: FastifyRequest<RouteGenericInterface, RawServerBase>,
    reply: FastifyReply<RouteGenericInterface, RawServerBase>,
  ): Promise<unknown>;
}

type Callback = (request: FastifyRequest, reply: FastifyReply, done: HookHandlerDoneFunction) => void;

/** A limit as Fastify's hooks use it. */
export interface HookedLimit {
  /** With a promise, for the program's own hooks. */
  readonly hook: RateLimitHook;
  /** With a callback, and a promise only if one is needed: a limit in memory takes half the time. */
  readonly callback: Callback;
  /** A check outside of hooks. */
  readonly check: RateLimitCheck;
  connect(): Promise<void>;
  close(): Promise<void>;
}

/** The callback in the form of a hook: a `preParsing` hook also gets the body's stream. */
export const hookFor = (hook: RateLimitHookName, callback: Callback): Callback =>
  hook === 'preParsing'
    ? (((request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: HookHandlerDoneFunction) =>
        callback(request, reply, done)) as never)
    : callback;

/**
 * @param counted marks requests that this limit has already counted, so that they pass. Default: no mark
 * @throws RangeError, TypeError naming the invalid option
 */
export function limitHook(options: RateLimitOptions, counted?: symbol): HookedLimit {
  const { shared, answers, onExceeding } = readOptions(options);
  const replies = options.requestWasSuccessful && new WeakMap<FastifyRequest, FastifyReply>();
  const limit = new RequestLimit('rateLimit', withReplies(shared, replies), ([request], decision) => {
    request.rateLimit = decision;
    return decision;
  });
  const bans = answers.ban === undefined ? undefined : new Bans(answers.ban, shared);
  const answer = answerWith({ ...answers, bans, statusCode: shared.statusCode });

  const decide = (request: FastifyRequest, reply: FastifyReply) => {
    replies?.set(request, reply);
    return limit.handle(new FastifyRequestView(request), new ReplyView(reply), request);
  };

  /** Marks the request. @returns whether this limit had counted it before */
  const again = (request: FastifyRequest): boolean => {
    if (counted === undefined) return false;
    const marks = request as unknown as Record<symbol, boolean>;
    const before = marks[counted] === true;
    marks[counted] = true;
    return before;
  };

  const passed = (request: FastifyRequest, { keys }: Verdict): unknown =>
    keys === undefined ? undefined : onExceeding?.(request, keyForFunctions(keys));

  const hook = async (request: FastifyRequest, reply: FastifyReply) => {
    if (again(request)) return undefined;
    const verdict = await decide(request, reply);
    if (verdict.outcome === 'passed') {
      await passed(request, verdict);
      return undefined;
    }
    await answer(request, reply, verdict);
    await reply; // resolves when the response is over
    // A client that disconnects while onSend hooks run ends that wait, too: Fastify would then continue to the route.
    return reply.sent ? reply : reply.hijack();
  };

  const goOn = (
    request: FastifyRequest,
    reply: FastifyReply,
    done: HookHandlerDoneFunction,
    verdict: Verdict,
  ): void => {
    if (verdict.outcome !== 'passed') {
      // For Fastify `undefined` is no error: the denied request would go on to its handler.
      answer(request, reply, verdict).catch((error) => done(error || asError('rateLimit', error)));
    } else if (onExceeding === undefined) {
      done();
    } else {
      Promise.resolve(verdict)
        .then((judged) => passed(request, judged))
        .then(
          () => done(),
          (error) => done(asError('rateLimit', error)),
        );
    }
  };

  const callback: Callback = (request, reply, done) => {
    if (again(request)) {
      done();
      return;
    }
    let verdict: ReturnType<typeof decide>;
    try {
      verdict = decide(request, reply);
    } catch (error) {
      done(error as Error);
      return;
    }
    if (isPromise(verdict)) verdict.then((judged) => goOn(request, reply, done, judged), done);
    else goOn(request, reply, done, verdict);
  };

  return {
    hook: withLimiter(hook, limit) as RateLimitHook,
    callback,
    check: rateLimitCheck(limit, bans),
    connect: () => limit.connect(),
    close: async () => {
      await limit.close();
      await bans?.close();
    },
  };
}

/** `requestWasSuccessful` also gets the reply. */
function withReplies(
  shared: ReturnType<typeof readOptions>['shared'],
  replies: WeakMap<FastifyRequest, FastifyReply> | undefined,
): typeof shared {
  const { requestWasSuccessful } = shared as Pick<RateLimitOptions, 'requestWasSuccessful'>;
  if (replies === undefined || typeof requestWasSuccessful !== 'function') return shared;
  return {
    ...shared,
    requestWasSuccessful: (request) => requestWasSuccessful(request, replies.get(request)!),
  };
}
