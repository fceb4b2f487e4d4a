import { describe, type RequestView, readProperty } from '@sluice/core/http';
import type { Path, Report } from '../document/problems.js';
import { nearest } from '../document/problems.js';
import type { ConditionInput, MatchInput } from '../document/schema.js';
import { compileGlob } from './glob.js';
import { compilePath, type Params, SplitPath } from './path-pattern.js';

/** What rules match on, read once for all of them. */
export class RequestFacts {
  readonly path: SplitPath;
  readonly method: string;
  #host: string | undefined;

  constructor(readonly view: RequestView) {
    this.path = new SplitPath(view.path);
    this.method = view.method.toUpperCase();
  }

  /** In lower case, without a port. */
  get host(): string {
    this.#host ??= String(this.header('host') ?? this.header(':authority') ?? '')
      .toLowerCase()
      .replace(/:\d*$/, '')
      .replace(/\.$/, '');
    return this.#host;
  }

  header(name: string): unknown {
    return readProperty(this.view.headers, name);
  }
}

/** @returns the params of the path pattern, or undefined if the request does not match */
export type Matcher = (request: RequestFacts) => Params | undefined;

const METHODS = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT', 'QUERY'],
  ...[
    'PROPFIND',
    'PROPPATCH',
    'MKCOL',
    'COPY',
    'MOVE',
    'LOCK',
    'UNLOCK',
    'REPORT',
    'SEARCH',
    'LINK',
    'UNLINK',
    'PURGE',
  ],
];
const NO_PARAMS: Params = {};

/** Compiles a match; reports what is wrong in it. */
export function compileMatch(input: MatchInput, path: Path, report: Report): Matcher {
  const { not, ...own } = input;
  const matches = compileCondition(own, path, report);
  if (not === undefined || typeof not !== 'object') return matches;
  const list = Array.isArray(not) ? not : [not];
  const exceptions = list.flatMap((one, i) => {
    const at = [...path, 'not', ...(Array.isArray(not) ? [i] : [])];
    return typeof one === 'object' && one !== null ? [compileCondition(one, at, report)] : [];
  });
  return (request) => {
    const params = matches(request);
    return params === undefined || exceptions.some((excepted) => excepted(request) !== undefined)
      ? undefined
      : params;
  };
}

function compileCondition(input: ConditionInput, path: Path, report: Report): Matcher {
  const { method, path: pattern, host, header } = input;
  const clean = (field: string) => report.isClean([...path, field]);
  if (Object.keys(input).length === 0) {
    report.add(path, 'a match needs a method, a path, a host or a header; path: /* matches every request');
  }
  const tests: ((request: RequestFacts) => boolean)[] = [];
  if (method !== undefined && clean('method'))
    tests.push(compileMethods(method, [...path, 'method'], report));
  if (host !== undefined && clean('host')) tests.push(compileHosts(host, [...path, 'host'], report));
  for (const [name, value] of Object.entries(clean('header') ? (header ?? {}) : {}))
    tests.push(compileHeader(name, String(value)));
  const patterns = compileEach(clean('path') ? (pattern ?? []) : [], [...path, 'path'], report, compilePath);
  if (pattern === undefined)
    return (request) => (tests.every((test) => test(request)) ? NO_PARAMS : undefined);
  return (request) => {
    for (const one of patterns) {
      const params = one.match(request.path);
      if (params !== undefined) return tests.every((test) => test(request)) ? params : undefined;
    }
    return undefined;
  };
}

/** Express, Fastify and Koa answer HEAD by the route of GET. */
function compileMethods(given: string | string[], path: Path, report: Report) {
  const methods = new Set(
    compileEach(given, path, report, (method) => {
      const upper = method.toUpperCase();
      if (METHODS.includes(upper)) return upper;
      throw new UnknownWord(`method ${describe(method)} is not known`, nearest(upper, METHODS));
    }),
  );
  if (methods.has('GET')) methods.add('HEAD');
  return (request: RequestFacts) => methods.has(request.method);
}

function compileHosts(given: string | string[], path: Path, report: Report) {
  const hosts = compileEach(given, path, report, (host) => {
    if (/^[\w.*-]+$|^\[[\da-f:.*]+\]$/i.test(host)) return compileGlob(host.toLowerCase());
    throw new RangeError(
      `host ${describe(host)} must be a name such as api.example.com or *.example.com, without a port`,
    );
  });
  return ({ host }: RequestFacts) => hosts.some((matches) => matches(host));
}

function compileHeader(name: string, pattern: string) {
  const lower = name.toLowerCase();
  const matches = compileGlob(pattern);
  return (request: RequestFacts) => {
    const value = request.header(lower);
    if (value === undefined || value === null) return false;
    return Array.isArray(value) ? value.some((one) => matches(String(one))) : matches(String(value));
  };
}

class UnknownWord extends RangeError {
  constructor(
    message: string,
    readonly hint: string | undefined,
  ) {
    super(message);
  }
}

/** Compiles one word or each of a list; reports the ones that throw. */
function compileEach<T>(
  given: string | string[],
  path: Path,
  report: Report,
  compile: (word: string) => T,
): T[] {
  return [given].flat().flatMap((word, i) => {
    try {
      return [compile(word)];
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
      const hint = error instanceof UnknownWord ? error.hint : undefined;
      report.add(Array.isArray(given) ? [...path, i] : path, error.message, { hint });
      return [];
    }
  });
}
