/**
 * Why a call has no response. `lost`: the upstream gave none. `refused`: by a mistake of the program nothing was sent. `mistake`: the
 * program failed, and the request may have been sent.
 */
export type Failure = 'lost' | 'refused' | 'mistake';

/** Codes with which undici refuses a request before it sends anything. */
const REFUSALS: readonly unknown[] = ['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'];
/** Codes with which it ends a request whose length is wrong, perhaps after it has sent the headers. */
const MISTAKES: readonly unknown[] = ['UND_ERR_REQ_CONTENT_LENGTH_MISMATCH'];
const PROGRAM_ERRORS: readonly unknown[] = ['TypeError', 'ReferenceError'];
/** The code of axios and got for a call that its caller has cancelled. */
const CANCELED = 'ERR_CANCELED';
/** How the message of fetch begins when a connection fails, in runtimes that state no cause. */
const NO_CONNECTION = /^(?:fetch failed|failed to fetch|error |network|load failed)/i;

interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly code?: unknown;
  readonly cause?: unknown;
}

const fieldsOf = (error: unknown): ErrorFields => (error ?? {}) as ErrorFields;

/** Has the caller ended the call, also by a signal that only its client knows? That says nothing of the upstream. */
export function isCanceled(error: unknown): boolean {
  const { name, code } = fieldsOf(error);
  return name === 'AbortError' || code === CANCELED;
}

/** By an error of undici, or of fetch, which has undici's error as its cause. */
export function failureOf(error: unknown): Failure {
  const { code, cause } = fieldsOf(error);
  const codes = [code, fieldsOf(cause).code];
  if (codes.some((one) => REFUSALS.includes(one))) return 'refused';
  return codes.some((one) => MISTAKES.includes(one)) ? 'mistake' : 'lost';
}

/**
 * By an error of a program's own function.
 * @param isAtOnce it threw before any I/O could end, so that no response had arrived
 */
export function failureOfProgram(error: unknown, isAtOnce: boolean): Failure {
  if (failureOf(error) === 'lost' && !isProgramError(error)) return 'lost';
  return isAtOnce ? 'refused' : 'mistake';
}

/** fetch throws a TypeError also when a connection fails: with a cause, a code that is none of Node's, or a message of its own. */
function isProgramError(error: unknown): boolean {
  const { name, message, code, cause } = fieldsOf(error);
  if (!PROGRAM_ERRORS.includes(name) || cause !== undefined) return false;
  const isOfNode = code === undefined || String(code).startsWith('ERR_');
  return isOfNode && !NO_CONNECTION.test(String(message));
}
