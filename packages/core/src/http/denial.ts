import { RequestForbiddenError } from '../errors.js';
import type { Decision } from '../limiter/decision.js';
import { errorOfDenial } from '../limiter/error-of-denial.js';
import { andThen, isPromise, type MaybePromise } from '../maybe-promise.js';
import { checkBoolean, checkInteger, describe } from '../options.js';
import { asError } from './as-error.js';
import { checkFunction } from './check-function.js';
import { forbiddenProblem, problemOf, unavailableProblem } from './problem.js';
import { problemMemory } from './problem-memory.js';
import { type Reply, replyTo } from './reply.js';
import type { CountingOptions, DenialOptions } from './request-limit-options.js';
import type { RequestView } from './request-view.js';

/** How a limit answers those whom it turns away. */
export interface Denial<Args> {
  /** A limit was exceeded. The problem document describes `shown`: the decision under its public name. */
  exceeded(
    request: RequestView,
    args: Args,
    decision: Decision,
    status?: number,
    shown?: Decision,
  ): MaybePromise<Reply>;
  /** The store is out, and the failure policy denies. */
  unavailable(request: RequestView): Reply;
  /** The request is on the deny list. */
  forbidden(request: RequestView): Reply;
  /** The same as errors, for the framework's own handling. */
  error(decision: Decision | undefined, headers: Record<string, string>): Error;
}

/** @throws RangeError, TypeError naming the option that is wrong */
export function denialOf<Args extends readonly unknown[]>(
  where: string,
  {
    statusCode,
    message,
    onLimited,
    dryRun,
    denyList,
    timeout,
    ...options
  }: DenialOptions<Args> & CountingOptions<Args>,
): Denial<Args> {
  const status = statusCode === undefined ? 429 : checkInteger(`${where}: statusCode`, statusCode, 400, 599);
  checkFunction(`${where}: onLimited`, onLimited);
  checkBoolean(`${where}: dryRun`, dryRun);
  checkBoolean(`${where}: throw`, options.throw);
  if (!isMessage(message) && typeof message !== 'function' && message !== undefined) {
    throw new TypeError(
      `${where}: message must be text, an object or a function that gives one, not ${describe(message)}`,
    );
  }
  if (dryRun === true && onLimited === undefined) {
    throw new TypeError(`${where}: dryRun denies nobody and tells only onLimited: give onLimited too`);
  }
  if (dryRun === true && denyList !== undefined) {
    throw new TypeError(`${where}: denyList has no effect with dryRun: deny in a limit of its own`);
  }
  if (dryRun === true && timeout !== undefined) {
    throw new TypeError(`${where}: timeout has no effect with dryRun, which lets everything through at once`);
  }
  if (options.throw === true && message !== undefined) {
    throw new TypeError(`${where}: message has no effect with throw: whoever catches the error answers`);
  }
  const problemOfDenial = problemMemory(status);
  const refused = (error: unknown): never => {
    throw asError(where, error);
  };
  const answer = (
    request: RequestView,
    decision: Decision,
    text: string | object | undefined,
    other?: number,
  ): Reply => {
    if (text !== undefined && !isMessage(text)) {
      throw new TypeError(
        `${where}: the function message gave ${describe(text)}, neither text nor an object`,
      );
    }
    const problem = other === undefined ? problemOfDenial(decision) : problemOf(decision, other);
    return replyTo(problem, accepted(request), text);
  };
  return {
    exceeded: (request, args, decision, other, shown = decision) => {
      try {
        if (typeof message !== 'function') return answer(request, shown, message, other);
        const text = andThen(message(...args, decision), (told) => answer(request, shown, told, other));
        return isPromise(text) ? text.catch(refused) : text;
      } catch (error) {
        return refused(error);
      }
    },
    unavailable: (request) => replyTo(unavailableProblem(), accepted(request)),
    forbidden: (request) => replyTo(forbiddenProblem(), accepted(request)),
    error: (decision, headers) =>
      decision === undefined ? new RequestForbiddenError() : errorOfDenial(decision, { status, headers }),
  };
}

const isMessage = (value: unknown): value is string | object =>
  typeof value === 'string' || (typeof value === 'object' && value !== null);

function accepted({ headers }: RequestView): string | undefined {
  const accept = (headers as { accept?: unknown } | undefined)?.accept;
  return typeof accept === 'string' ? accept : undefined;
}
