import { pathOf, type RequestView, writtenPathOf } from '@sluice/http';
import type { GivenInput } from '../document/schema-tests.js';

/** The request of a test. */
export function requestOf(given: GivenInput): RequestView {
  const {
    method = 'GET',
    path = '/',
    host,
    ip = '203.0.113.1',
    user,
    headers = {},
    params = {},
    cookies,
    body,
  } = given;
  const at = path.indexOf('?');
  const inPath = at < 0 ? {} : Object.fromEntries(new URLSearchParams(path.slice(at)));
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]);
  return {
    ip,
    user,
    method,
    path: pathOf(path),
    writtenPath: writtenPathOf(path),
    params,
    query: { ...inPath, ...given.query },
    cookies,
    body,
    bodyParsed: body !== undefined,
    headers: { ...(host === undefined ? {} : { host }), ...Object.fromEntries(lower) },
  };
}
