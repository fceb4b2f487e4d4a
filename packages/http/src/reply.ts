import { getOrCreate } from '@sluice/core/internal';
import { negotiator } from '#platform';
import type { ResponseHeaders } from './headers/decision-headers.js';
import { textOf, writeErrorHeaders } from './headers/response-headers.js';
import { type HttpProblem, PROBLEM_TYPE, problemOfError } from './problem.js';

/** A response to send as it is. */
export interface Reply {
  readonly status: number;
  /** The value of `Content-Type`. */
  readonly type: string;
  readonly body: string;
}

export interface NegotiatedReply extends Reply {
  /** The request header that the body depends on. */
  readonly vary?: 'Accept';
}

/** Adds `vary` of the reply to the `Vary` header of the response. */
export function writeVary({ vary }: NegotiatedReply, headers: ResponseHeaders): void {
  if (vary === undefined) return;
  const given = headers.get('Vary');
  if (given === undefined) {
    headers.set('Vary', vary);
    return;
  }
  const before = textOf(given);
  const names = before.split(',').map((name) => name.trim().toLowerCase());
  if (names.includes('*') || names.includes(vary.toLowerCase())) return;
  headers.set('Vary', before === '' ? vary : `${before}, ${vary}`);
}

const JSON_TYPE = 'application/json';
const HTML_TYPE = 'text/html';
const TEXT_TYPE = 'text/plain';
/** The forms of a problem; the first is for clients that accept anything. */
const FORMS = [PROBLEM_TYPE, JSON_TYPE, HTML_TYPE, TEXT_TYPE] as const;
/** Browsers send up to 200 characters. A longer header would only cost time. */
const LONGEST_ACCEPT = 1000;

/**
 * The response with a problem's status.
 * @param accept the request's `Accept`; if it is missing, malformed, too long or cannot be met: `application/problem+json`
 * @param message a body instead of the problem: text, or an object that becomes JSON
 * @throws TypeError if the message cannot be written as JSON
 */
export function replyTo(
  problem: HttpProblem,
  accept: string | undefined,
  message?: string | object,
): NegotiatedReply {
  const { status, title, detail } = problem;
  if (typeof message === 'string') return { status, type: withCharset(TEXT_TYPE), body: message };
  if (message !== undefined) return { status, type: JSON_TYPE, body: JSON.stringify(message) ?? 'null' };
  const form = formFor(accept);
  const vary = 'Accept';
  if (form === HTML_TYPE) return { status, type: withCharset(form), body: page(problem), vary };
  if (form !== TEXT_TYPE) return { status, type: form, body: jsonOf(problem), vary };
  return { status, type: withCharset(form), body: `${title}\n${detail}\n`, vary };
}

/**
 * Answers one of Sluice's errors: sets the headers of the response, and returns what to send.
 * @param accept the request's `Accept`
 * @returns undefined for other errors, and for errors whose details stay private
 */
export function answerError(
  error: unknown,
  accept: string | undefined,
  headers: ResponseHeaders,
): Reply | undefined {
  const problem = problemOfError(error);
  if (problem === undefined) return undefined;
  writeErrorHeaders(error, headers);
  const reply = replyTo(problem, accept);
  writeVary(reply, headers);
  return reply;
}

function formFor(accept: string | undefined): string {
  if (typeof accept !== 'string' || accept === '*/*' || accept.length > LONGEST_ACCEPT) return PROBLEM_TYPE;
  const Negotiator = negotiator();
  return new Negotiator({ headers: { accept } }).mediaType(FORMS) ?? PROBLEM_TYPE;
}

const jsons = new WeakMap<HttpProblem, string>();

/** The problems of a flood are the same objects again and again. */
const jsonOf = (problem: HttpProblem): string => getOrCreate(jsons, problem, () => JSON.stringify(problem));

const withCharset = (type: string) => `${type}; charset=utf-8`;

function page({ status, title, detail }: HttpProblem): string {
  const name = escaped(title);
  return (
    `<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>${status} ${name}</title></head>` +
    `<body><h1>${name}</h1><p>${escaped(detail)}</p></body></html>\n`
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
