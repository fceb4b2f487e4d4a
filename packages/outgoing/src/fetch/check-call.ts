import { isReplayable } from './body.js';

/** What most calls pass. */
const USUAL = ['method', 'headers', 'body', 'signal'];
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Finds what fetch would refuse without sending anything, before the call waits or takes permits: it is a mistake of the program, no failure
 * of the upstream, and repeating it is of no use.
 * @throws TypeError, as fetch does
 */
export function checkCall(url: URL, method: string, init: RequestInit, given: Request | undefined): void {
  if (given?.bodyUsed && init.body === undefined)
    throw new TypeError('Cannot send a Request whose body has been used: pass a clone of it');
  // A text for the body of a Request: that one is right, and stays unread.
  const body = init.body === undefined ? given?.body && '' : init.body;
  if (isUsual(url, method, init, body)) return;
  // Without the signal: each Request would listen to it. The body itself stays unread.
  new Request(url, { ...init, method, body: sampleOf(body), signal: null });
}

/** Can nothing be wrong? To make a Request of each call takes longer than all else. */
function isUsual(url: URL, method: string, init: RequestInit, body: unknown): boolean {
  if (url.username !== '' || url.password !== '' || !METHODS.includes(method)) return false;
  const hasBody = body !== undefined && body !== null;
  if (hasBody && (method === 'GET' || method === 'HEAD' || !isReplayable(body))) return false;
  for (const name in init) if (!USUAL.includes(name)) return false;
  return areUsual(init.headers);
}

function areUsual(headers: RequestInit['headers']): boolean {
  if (headers === undefined || headers instanceof Headers) return true;
  if (headers === null || typeof headers !== 'object' || Symbol.iterator in headers) return false;
  return Object.entries(headers).every(
    ([name, value]) => typeof value === 'string' && NAME.test(name) && VALUE.test(value),
  );
}

/** A body of the same kind that costs nothing. */
function sampleOf(body: unknown): ReadableStream | string | null {
  if (body === undefined || body === null) return null;
  if (body instanceof ReadableStream) return body;
  const isStream = typeof body === 'object' && Symbol.asyncIterator in body;
  return isStream ? new ReadableStream() : '';
}
