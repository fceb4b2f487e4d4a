import { getOrCreate } from '@sluice/core/internal';
import { copyOf } from './body.js';

/** What a call may pass to be shared; `signal` is not among them, because it would end the call for the others. */
const SHAREABLE = ['method', 'headers'];

/** A call whose response has not begun. */
interface SharedCall {
  readonly response: Promise<Response>;
  /** The number of those that wait for it. */
  callers: number;
}

/**
 * Sends equal GETs that are in flight once. Equal ones have the same address and the same headers, also the same `Authorization`.
 * @param origin of relative addresses
 * @param isAlone whether a call must be sent by itself
 */
export function shareEqual(send: typeof fetch, origin: string, isAlone: () => boolean): typeof fetch {
  const calls = new Map<string, SharedCall>();
  return async (input, init) => {
    const key = isAlone() ? undefined : keyOf(input, init, origin);
    if (key === undefined) return send(input, init);
    const call = getOrCreate(calls, key, () => ({
      response: send(input, init).finally(() => calls.delete(key)),
      callers: 0,
    }));
    call.callers += 1;
    const response = await call.response;
    call.callers -= 1;
    // The last caller gets the response itself: if nobody read its body, the body would stay in memory.
    return call.callers === 0 ? response : copyOf(response);
  };
}

/** All that the response may depend on; undefined: the call is not shared. */
function keyOf(
  input: Parameters<typeof fetch>[0],
  settings: RequestInit | null | undefined,
  origin: string,
): string | undefined {
  const init = settings ?? {};
  const { method = 'GET', headers } = init;
  if (input instanceof Request || method.toUpperCase() !== 'GET') return undefined;
  for (const [name, value] of Object.entries(init))
    if (value !== undefined && !SHAREABLE.includes(name)) return undefined;
  try {
    return JSON.stringify([new URL(input, origin).href, ...new Headers(headers)]);
  } catch {
    return undefined; // the call itself says what is wrong
  }
}
