import type { AnyResponse } from './response-view.js';

/** Where clients have the body of a response: got, undici and fetch in `body`, axios in `data`. */
interface WithBody {
  readonly body?: unknown;
  readonly data?: unknown;
}

/** A body that was not read yet: of fetch, of undici, and of Node. */
interface UnreadBody {
  cancel?(): unknown;
  dump?(): unknown;
  destroy?(): unknown;
}

/** The body of a response that a client has read already. */
export function bodyOf(response: AnyResponse): string {
  const { body, data } = response as WithBody;
  const read = body ?? data;
  if (typeof read === 'string') return read;
  const isJson =
    typeof read === 'object' &&
    read !== null &&
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(read));
  return isJson ? JSON.stringify(read) : '';
}

/** Ends an unread body, so that its connection is free. Does nothing for a body that was read. */
export async function endBody(response: AnyResponse): Promise<void> {
  const { body, data } = response as WithBody;
  // A message of `node:http` is its own body.
  for (const one of [body, data, response] as (UnreadBody | null | undefined)[]) {
    const end = one?.cancel ?? one?.dump ?? one?.destroy;
    if (typeof end === 'function') return void (await end.call(one));
  }
}
