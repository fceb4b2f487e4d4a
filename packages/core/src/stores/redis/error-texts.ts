import { isNativeError } from '#platform';

/** Errors of several addresses arrive as an AggregateError without a message; those of cluster nodes as `lastNodeError`. */
type ErrorOfSeveral = Error & { errors?: unknown; lastNodeError?: unknown };

/** The messages of an error and of its inner errors. The depth is limited: an error may be its own cause. */
export function* textsOf(error: unknown, depth = 0): Generator<string> {
  if (!isError(error)) {
    yield String(error);
    return;
  }
  yield error.message;
  const { errors, lastNodeError, cause } = error as ErrorOfSeveral;
  const inner = [...(Array.isArray(errors) ? errors : []), lastNodeError, cause];
  for (const one of inner) if (isError(one) && depth < 3) yield* textsOf(one, depth + 1);
}

/** The message of ioredis for a lost connection advises against settings of the store, so it is replaced. */
const LOST = /^(?:Reached the max retries per request limit|Stream isn't writeable and enableOfflineQueue)/;

export function messageOf(error: unknown): string {
  if (!isError(error)) return String(error);
  if (LOST.test(error.message)) return 'the connection was lost';
  const { errors, lastNodeError } = error as ErrorOfSeveral;
  if (Array.isArray(errors) && error.message === '') return errors.map(messageOf).join('; ');
  return isError(lastNodeError) ? `${error.message} ${messageOf(lastNodeError)}` : error.message;
}

/** Also true for errors of another realm, such as Node's own in a test runner. */
const isError = (error: unknown): error is Error => isNativeError(error);

/** The same error without its command, which ioredis attaches: events are logged whole, and a login command has the password. */
export function withoutCommand(error: Error): Error {
  const { command, lastNodeError, ...rest } = error as ErrorOfSeveral & { command?: unknown };
  if (command === undefined && !isError(lastNodeError)) return error;
  const inner = isError(lastNodeError) && { lastNodeError: withoutCommand(lastNodeError) };
  const copy = Object.assign(new Error(error.message), rest, inner);
  for (const shown of ['name', 'stack'] as const) {
    Object.defineProperty(copy, shown, { value: error[shown], enumerable: false });
  }
  return copy;
}
