import { parse } from 'node:querystring';
import { pathOf, type RequestView, writtenPathOf } from '@sluice/http';

/** The parts of a request that a line of a log contains. */
export interface LoggedParts {
  /** Arrival of the request, µs since 1970. */
  readonly time: number;
  /** Duration, µs; undefined if the log lacks it. */
  readonly duration?: number | undefined;
  readonly status?: number | undefined;
  readonly ip: string | undefined;
  readonly user: unknown;
  readonly method: string;
  /** The URL as it was sent: with the query, possibly with an origin. */
  readonly url: string;
  /** By lower-case names. */
  readonly headers?: Readonly<Record<string, unknown>> | undefined;
}

/** A request of a log, in the form that rules read. */
export class LogRequest implements RequestView {
  readonly time: number;
  readonly duration: number | undefined;
  readonly status: number | undefined;
  readonly ip: string | undefined;
  readonly user: unknown;
  readonly method: string;
  readonly path: string;
  readonly writtenPath: string | undefined;
  readonly params = undefined;
  readonly body = undefined;
  /** A log contains no bodies: a template that reads the body finds no value. */
  readonly bodyParsed = true;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly #url: string;
  #query: unknown;
  /** Its line in the file, from 1. */
  line = 0;
  file = '';

  constructor(parts: LoggedParts) {
    const { url, headers = {} } = parts;
    this.time = parts.time;
    this.duration = parts.duration;
    this.status = parts.status;
    this.ip = parts.ip;
    this.user = parts.user;
    this.method = parts.method;
    const path = url.replace(ORIGIN, '').replace(/^(?!\/)/, '/');
    this.path = pathOf(path);
    this.writtenPath = writtenPathOf(path);
    this.headers = withHost(url, headers);
    this.#url = url;
  }

  get query(): unknown {
    if (this.#query === undefined) {
      const at = this.#url.indexOf('?');
      this.#query = at < 0 ? {} : parse(this.#url.slice(at + 1).replace(/#.*$/s, ''));
    }
    return this.#query;
  }
}

const ORIGIN = /^[a-z][a-z\d+.-]*:\/\/([^/?#]*)/i;

/** An absolute URL names the host. */
function withHost(url: string, headers: Readonly<Record<string, unknown>>) {
  if (url.startsWith('/')) return headers;
  const host = ORIGIN.exec(url)?.[1];
  return !host || headers.host !== undefined ? headers : { ...headers, host };
}

const METHOD = /^[A-Za-z][A-Za-z-]{0,19}$/;

/** `GET /a?b HTTP/1.1`: its method and URL; undefined for anything else, such as TLS sent to a port for plain HTTP. */
export function requestLine(text: string): { readonly method: string; readonly url: string } | undefined {
  const space = text.indexOf(' ');
  const method = text.slice(0, Math.max(0, space));
  const end = text.lastIndexOf(' HTTP/');
  const url = text.slice(space + 1, end > space ? end : undefined);
  return isMethod(method) && isUrl(url) ? { method, url } : undefined;
}

export const isMethod = (text: unknown): text is string => typeof text === 'string' && METHOD.test(text);

/** A path, or an address with a path. */
export const isUrl = (text: unknown): text is string =>
  typeof text === 'string' && (text.startsWith('/') || /^[a-z][a-z\d+.-]*:\/\//i.test(text));

/** A user name of a log in the form that rules expect: `#{user.id}` and `USER` read it. */
export const userOf = (name: string | undefined): unknown =>
  name === undefined || name === '-' || name === '' ? undefined : { id: name };
