import { StoreUnavailableError } from '@sluice/core';

/** Characters of a foreign text that an error repeats. */
const MOST = 100;

const TOKEN =
  'the token is refused: give upstashStore the UPSTASH_REDIS_REST_TOKEN that the console of Upstash shows for this database';

/** Statuses of a request that was not executed at all. */
const NOT_EXECUTED = new Set([401, 403, 404, 405, 429]);

/**
 * The error of a request that was answered with another status than 200: an outage, because a person or time must mend it. An error of Redis
 * stays as it is, and core tells what it means.
 */
export function refusedRequest(status: number, answer: string): Error {
  const text = errorOf(parsed(answer)) ?? answer;
  if (status === 401 || status === 403 || /^WRONGPASS\b/.test(text)) return ofToken(status, text);
  if (status === 400 && /^[A-Z]+ /.test(text)) return new Error(text);
  const neverSent = NOT_EXECUTED.has(status);
  return new StoreUnavailableError(`upstashStore: answered with status ${status}: ${start(text)}`, {
    reason: 'connection',
    neverSent,
  });
}

const ofToken = (status: number, text: string): StoreUnavailableError =>
  new StoreUnavailableError(`upstashStore: ${TOKEN} (${status}: ${start(text)})`, {
    reason: 'WRONGPASS',
    neverSent: true,
  });

/** The error of an answer that is none of Upstash's, such as the page of a proxy. The commands may have run. */
export const foreignReply = (status: number, text: string): StoreUnavailableError =>
  new StoreUnavailableError(
    `upstashStore: the answer is none of Upstash's REST API (${status}: ${start(text)})`,
    {
      reason: 'connection',
    },
  );

/** Errors of a connection that was never made. */
const NOT_CONNECTED =
  /^(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/;

/**
 * The error of a request without a whole answer.
 * @param ms the time after which it was given up, if it was
 * @param closed whether the store has ended it. A program's own `fetch` may also abort requests
 */
export function failedExchange(
  error: unknown,
  ms: number | undefined,
  closed: boolean,
): StoreUnavailableError {
  if (ms !== undefined)
    return new StoreUnavailableError(`upstashStore: no answer within ${ms} ms`, {
      reason: 'timeout',
      late: true,
    });
  if (closed) return new StoreUnavailableError('upstashStore: it was closed', { reason: 'closed' });
  // `fetch` of Node.js only says that it failed, and names the reason in the cause.
  const { cause } = Object(error) as Partial<Error>;
  const { message = String(error), code } = (cause ?? error) as Partial<Error & { code: string }>;
  return new StoreUnavailableError(`upstashStore: ${message || code}`, {
    reason: 'connection',
    neverSent: NOT_CONNECTED.test(String(code)),
    cause: error,
  });
}

/** @returns undefined if it is no JSON */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The error in the answer to a request, or in the reply to a command. */
export function errorOf(answer: unknown): string | undefined {
  const { error } = Object(answer) as { error?: unknown };
  return typeof error === 'string' ? error : undefined;
}

const start = (text: string): string => (text.length > MOST ? `${text.slice(0, MOST)}…` : text);
