import type { Decision } from '@sluice/core';
import { count, describe, isPromise } from '@sluice/core/internal';
import { asError, keyForFunctions, type Verdict } from '@sluice/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Bans } from './bans.js';
import type { RateLimitOptions } from './options.js';

interface AnswerOptions
  extends Pick<
    RateLimitOptions,
    'handler' | 'errorResponseBuilder' | 'onExceeded' | 'onBanReach' | 'statusCode'
  > {
  readonly bans: Bans | undefined;
}

/** Answers a denied request. An error it throws goes to Fastify's error handling. */
export function answerWith({
  handler,
  errorResponseBuilder,
  onExceeded,
  onBanReach,
  statusCode,
  bans,
}: AnswerOptions) {
  const ownAnswer = async (request: FastifyRequest, reply: FastifyReply, decision: Decision) => {
    try {
      const own = await handler!(request, reply, decision);
      if (!reply.sent && own !== undefined && own !== reply) reply.send(own);
      return reply.sent || own !== undefined;
    } catch (error) {
      reply.code(200); // Fastify sets an error's own status only if no other status was set
      throw asError('rateLimit', error);
    }
  };

  /** @returns whether it answered */
  const byOptions = async (
    request: FastifyRequest,
    reply: FastifyReply,
    decision: Decision,
    status: number,
    ban: boolean,
  ): Promise<boolean> => {
    if (handler !== undefined) return ownAnswer(request, reply.code(status), decision);
    if (errorResponseBuilder === undefined) return false;
    const { limit: max, retryAfter: ttl } = decision;
    const error: unknown = errorResponseBuilder(request, {
      statusCode: status,
      ban,
      max,
      ttl,
      after: inWords(ttl),
    });
    if (typeof error === 'object' && error !== null) throw error;
    throw new TypeError(
      `rateLimit: errorResponseBuilder must return an error or an object, not ${describe(error)}`,
    );
  };

  const hasOptions =
    onExceeded !== undefined ||
    bans !== undefined ||
    handler !== undefined ||
    errorResponseBuilder !== undefined;

  return async (request: FastifyRequest, reply: FastifyReply, verdict: Verdict): Promise<void> => {
    if (verdict.outcome === 'aborted') {
      if (!reply.sent) reply.hijack();
      return;
    }
    const { decision, keys, status: own = statusCode ?? 429 } = verdict;
    let ban = false;
    // Awaits these options only if they are given: without them a denial is answered at once.
    if (decision !== undefined && hasOptions) {
      const key = keyForFunctions(keys!);
      await onExceeded?.(request, key);
      ban = bans !== undefined && (await bans.reached(key, decision));
      if (ban) await onBanReach?.(request, key);
      if (await byOptions(request, reply, decision, ban ? 403 : own, ban)) return;
    }
    const made = verdict.reply(ban ? 403 : undefined);
    const { status, type, body } = isPromise(made) ? await made : made;
    // Fastify adds a charset to every JSON type without a serializer; application/problem+json must have none.
    if (type === 'application/problem+json') reply.serializer(asItIs);
    reply.code(status).type(type).send(body);
  };
}

const asItIs = (body: unknown) => body as string;

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Milliseconds as text, rounded up: `'1 second'`, `'2 minutes'`. */
function inWords(ms: number): string {
  if (!Number.isFinite(ms)) return 'never';
  const seconds = Math.max(1, Math.ceil(ms / 1000)) * 1000;
  const [unit, length] = UNITS.find(([, each]) => seconds >= each)!;
  return count(Math.ceil(seconds / length), unit);
}
