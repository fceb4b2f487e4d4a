import { describe, nearest } from '@sluice/core/internal';
import { AddressRanges, noRange, type RequestView } from '@sluice/http';
import type { Path, Report } from '../document/problems.js';
import type { ConditionInput, MatchInput } from '../document/schema-match.js';
import { compileGlob, compileGlobs } from './glob.js';
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

/** Finds the plan of a request for `match: { plan }`. */
export type PlanOfRequest = (request: RequestView) => string | undefined;

/** Does a match read the plan of a request? */
export const matchesPlan = (match: MatchInput | undefined): boolean =>
  match?.plan !== undefined || [match?.not ?? []].flat().some((one) => one?.plan !== undefined);

/** Compiles a match; reports its problems. */
export function compileMatch(input: MatchInput, planOf: PlanOfRequest, path: Path, report: Report): Matcher {
  const { not, ...own } = input;
  const matcher = compileCondition(own, planOf, path, report);
  if (not === undefined || typeof not !== 'object') return matcher;
  const list = Array.isArray(not) ? not : [not];
  const exceptions = list.flatMap((one, i) => {
    const at = [...path, 'not', ...(Array.isArray(not) ? [i] : [])];
    return typeof one === 'object' && one !== null ? [compileCondition(one, planOf, at, report)] : [];
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

type Test = (request: RequestFacts) => boolean;

function compileCondition(input: ConditionInput, planOf: PlanOfRequest, path: Path, report: Report): Matcher {
  const { method, path: pattern, host, header, ip, query, user, plan } = input;
  if (Object.keys(input).length === 0) {
    report.add(path, 'a match needs a field such as method, path or ip; path: /* matches every request');
  }
  const at = (field: string) => [...path, field];
  /** A field that is set and has no problem. */
  const clean = <T>(field: string, value: T | undefined): value is T =>
    value !== undefined && report.isClean(at(field));
  const methods = clean('method', method) ? compileMethods(method, at('method'), report) : undefined;
  const hosts = clean('host', host) ? compileEach(host, at('host'), report, checkHost) : undefined;
  const paths = clean('path', pattern) ? compileEach(pattern, at('path'), report, compilePath) : undefined;
  const hostMatchers = hosts?.map(compileGlob);
  const tests: Test[] = [];
  if (clean('header', header)) {
    tests.push(...compileFields(header, (request, name) => request.header(name.toLowerCase())));
  }
  if (clean('ip', ip)) tests.push(compileAddresses(ip, at('ip'), report));
  if (clean('query', query)) tests.push(...compileFields(query, (request, name) => request.query(name)));
  if (clean('user', user)) tests.push(...compileUser(user));
  if (clean('plan', plan)) {
    const plans = new Set([plan].flat());
    tests.push(({ view }) => plans.has(planOf(view) ?? ''));
  }
  const restMatches: Test = (request) =>
    methods?.has(request.method) !== false &&
    hostMatchers?.some((matches) => matches(request.host)) !== false &&
    tests.every((matches) => matches(request));
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

function compileAddresses(given: string | string[], path: Path, report: Report): Test {
  const ranges = new AddressRanges();
  compileEach(given, path, report, (range) => {
    if (!ranges.add(range)) throw new RangeError(`ip ${noRange(range)}`);
  });
  return ({ view }) => ranges.has(view.ip);
}

/** Matches ids, or fields of the user by their patterns. */
function compileUser(user: NonNullable<ConditionInput['user']>): Test[] {
  if (typeof user === 'object' && !Array.isArray(user)) {
    return compileFields(user, (request, name) => request.userField(name));
  }
  const matches = compileGlobs([user].flat().map(String));
  return [(request) => matchesValue(request.userId, matches)];
}

/** Matches values by name, each with its patterns. */
function compileFields(
  fields: NonNullable<ConditionInput['header']>,
  read: (request: RequestFacts, name: string) => unknown,
): Test[] {
  return Object.entries(fields).map(([name, patterns]) => {
    const matches = compileGlobs([patterns].flat().map(String));
    return (request) => matchesValue(read(request, name), matches);
  });
}

/** One matching item of a list is enough, such as a query value that occurs twice. Only `'*'` matches an object. */
function matchesValue(value: unknown, matches: (text: string) => boolean): boolean {
  if (value === undefined || value === null) return false;
  if (Array.isArray(value)) return value.some((one) => matches(textOf(one)));
  return matches(textOf(value));
}

const textOf = (value: unknown): string => (typeof value === 'object' ? '' : String(value));

class UnknownWord extends RangeError {
  constructor(
    message: string,
    readonly hint: string | undefined,
  ) {
    super(message);
  }
}

/** Compiles one word or each of a list; reports words that throw. */
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
