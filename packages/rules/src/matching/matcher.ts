import { describe, nearest } from '@sluice/core/http';
import type { Path, Report } from '../document/problems.js';
import type { ConditionInput, MatchInput } from '../document/schema.js';
import { compileGlob } from './glob.js';
import { compilePath, type Params, type PathPattern, type SplitPath } from './path-pattern.js';
import type { RequestFacts } from './request-facts.js';

/** Which requests a rule limits. */
export interface Matcher {
  /** Undefined: every path. */
  readonly paths: readonly PathPattern[] | undefined;
  /** Undefined: every method. */
  readonly methods: ReadonlySet<string> | undefined;
  /** In lower case; undefined: every host. */
  readonly hosts: readonly string[] | undefined;
  /**
   * @param path one reading of the request's path
   * @returns the params of the path pattern, or undefined if the request does not match
   */
  match(request: RequestFacts, path: SplitPath): Params | undefined;
}

const METHODS =
  'GET HEAD POST PUT PATCH DELETE OPTIONS TRACE CONNECT QUERY PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH LINK UNLINK PURGE'.split(
    ' ',
  );
const NO_PARAMS: Params = {};

/** Compiles a match; reports what is wrong in it. */
export function compileMatch(input: MatchInput, path: Path, report: Report): Matcher {
  const { not, ...own } = input;
  const matcher = compileCondition(own, path, report);
  if (not === undefined || typeof not !== 'object') return matcher;
  const list = Array.isArray(not) ? not : [not];
  const exceptions = list.flatMap((one, i) => {
    const at = [...path, 'not', ...(Array.isArray(not) ? [i] : [])];
    return typeof one === 'object' && one !== null ? [compileCondition(one, at, report)] : [];
  });
  return {
    ...matcher,
    match(request, path) {
      const params = matcher.match(request, path);
      if (params === undefined) return undefined;
      return exceptions.some((excepted) => excepted.match(request, path) !== undefined) ? undefined : params;
    },
  };
}

function compileCondition(input: ConditionInput, path: Path, report: Report): Matcher {
  const { method, path: pattern, host, header } = input;
  const clean = (field: string) => report.isClean([...path, field]);
  if (Object.keys(input).length === 0) {
    report.add(path, 'a match needs a method, a path, a host or a header; path: /* matches every request');
  }
  const at = (field: string) => [...path, field];
  const methods =
    method === undefined || !clean('method') ? undefined : compileMethods(method, at('method'), report);
  const hosts =
    host === undefined || !clean('host') ? undefined : compileEach(host, at('host'), report, checkHost);
  const paths =
    pattern === undefined || !clean('path')
      ? undefined
      : compileEach(pattern, at('path'), report, compilePath);
  const hostMatchers = hosts?.map(compileGlob);
  const headers = clean('header')
    ? Object.entries(header ?? {}).map(([name, value]) => compileHeader(name, String(value)))
    : [];
  const restMatches = (request: RequestFacts) =>
    methods?.has(request.method) !== false &&
    hostMatchers?.some((matches) => matches(request.host)) !== false &&
    headers.every((matches) => matches(request));
  return {
    paths,
    methods,
    hosts,
    match(request, path) {
      if (paths === undefined) return restMatches(request) ? NO_PARAMS : undefined;
      for (const one of paths) {
        const params = one.match(path);
        if (params !== undefined) return restMatches(request) ? params : undefined;
      }
      return undefined;
    },
  };
}

/** Express, Fastify and Koa answer HEAD by the route of GET. */
function compileMethods(given: string | string[], path: Path, report: Report): ReadonlySet<string> {
  const methods = new Set(
    compileEach(given, path, report, (method) => {
      const upper = method.toUpperCase();
      if (METHODS.includes(upper)) return upper;
      throw new UnknownWord(`method ${describe(method)} is not known`, nearest(upper, METHODS));
    }),
  );
  if (methods.has('GET')) methods.add('HEAD');
  return methods;
}

function checkHost(host: string): string {
  if (/^[\w.*-]+$|^\[[\da-f:.*]+\]$/i.test(host)) return host.toLowerCase();
  throw new RangeError(
    `host ${describe(host)} must be a name such as api.example.com or *.example.com, without a port`,
  );
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
