/** Less than the time that Jest gives a test, so the error names what was missing. */
const PATIENCE = 40_000;

/**
 * The promise's own result, or an error that says what did not happen: `within(once(socket, 'close'), 'the socket closes')`.
 * @param what a text, or a function that is called when the time is over
 */
export async function within<T>(
  promise: PromiseLike<T>,
  what: string | (() => string),
  ms = PATIENCE,
): Promise<T> {
  const late = new Error(); // here, for the stack of the caller
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      late.message = `Waited ${ms / 1000} s in vain: ${typeof what === 'string' ? what : what()}`;
      reject(late);
    }, ms);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
