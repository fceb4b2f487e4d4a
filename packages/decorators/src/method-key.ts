import { isKeyResolutionError, KeyResolutionError, LimitType } from '@sluice/core';
import {
  compileKey,
  compileKeyList,
  didYouMean,
  firstKey,
  isKeyList,
  type KeyScope,
  type KeyTemplate,
  keyPart,
  type MaybePromise,
  nearest,
} from '@sluice/core/internal';
import {
  currentRequest,
  keyErrorOfRequest,
  REQUEST_FIELDS,
  type RequestView,
  requestField,
} from '@sluice/http';
import type { KeyOfArguments, Limitation } from './limitation.js';
import { type MethodParameters, readParameters } from './parameter-names.js';
import type { Sluice } from './sluice.js';
import type { Method } from './wrap-method.js';

/**
 * Makes the key of one call. `qualifiedName` returns `ClassName.methodName`. `ipv6Subnet` comes from the rule of the call; the default is
 * the configuration's.
 * @throws KeyResolutionError if the call or the current request lacks the value; TypeError if the class has no name
 */
export type KeyOfCall = (
  args: readonly unknown[],
  sluice: Sluice,
  qualifiedName: () => string,
  ipv6Subnet?: number,
) => MaybePromise<string>;

/** @throws RangeError if a CUSTOM key uses an unknown name */
export function compileMethodKey(
  limitation: Pick<Limitation, 'limitType' | 'key' | 'params'>,
  where: string,
  method: Method,
): KeyOfCall {
  switch (limitation.limitType) {
    case LimitType.IP:
      return (_args, sluice, _qualifiedName, ipv6Subnet) => sluice.ip(requestFor('limitType IP'), ipv6Subnet);
    case LimitType.USER:
      return (_args, sluice) => sluice.user(requestFor('limitType USER'));
    case LimitType.METHOD:
      return (_args, _sluice, qualifiedName) => qualifiedName();
    case LimitType.CUSTOM:
      return compileCustomKey(limitation, where, method);
  }
}

function compileCustomKey(
  { key, params }: Pick<Limitation, 'key' | 'params'>,
  where: string,
  method: Method,
) {
  if (typeof key === 'function') return callKeyFunction(key, where);
  if (!isKeyList(key)) return compileTemplate(compileKey(key), params, where, method).read;
  return firstKey<Call>(compileKeyList(`${where}: key`, key), ({ source, template }, isLast) => {
    if (template !== undefined) {
      const { read, readIfAny } = compileTemplate(template, params, where, method);
      return isLast ? read : readIfAny;
    }
    if (source === LimitType.USER && !isLast) return USER_IF_ANY;
    return compileMethodKey({ limitType: source as 'USER', key: '', params }, where, method);
  });
}

const USER_IF_ANY = (_args: readonly unknown[], sluice: Sluice): MaybePromise<string | undefined> =>
  sluice.userIfAny(requestFor('key USER'));

type Call = Parameters<KeyOfCall>;

type ReadRoot = (args: readonly unknown[], sluice: Sluice, ipv6Subnet?: number) => unknown;

const POSITION = /^(?:0|[1-9]\d?)$/;

/** The first name or position of an expression. */
const ROOT = /^#.([\p{ID_Continue}$]+)/u;

/** The function belongs to the program, so an invalid key is a server error, not a client error. */
function callKeyFunction(keyOf: KeyOfArguments, where: string): KeyOfCall {
  const what = `${where}: the result of the key function`;
  return (args) => {
    try {
      return keyPart(keyOf(...args), what);
    } catch (error) {
      throw isKeyResolutionError(error)
        ? new KeyResolutionError(error.message, error.expression, 500)
        : error;
    }
  };
}

function compileTemplate(
  template: KeyTemplate,
  params: readonly string[] | undefined,
  where: string,
  method: Method,
) {
  const parameters = readParameters(method, params);
  const roots = new Map<string, ReadRoot>();
  const fields: string[] = [];
  for (const root of template.roots) {
    const ofCall = parameterReader(parameters, root);
    const read = ofCall ?? fieldReader(root);
    if (read === undefined)
      throw unknownRoot(where, `key ${JSON.stringify(template.source)}`, root, parameters);
    roots.set(root, read);
    if (ofCall === undefined) fields.push(root);
  }
  const scopeOf =
    ([args, sluice, , ipv6Subnet]: Call): KeyScope =>
    (root) =>
      roots.get(root)?.(args, sluice, ipv6Subnet);
  const read = (...call: Call): string => {
    const scope = scopeOf(call);
    try {
      return template.resolve(scope);
    } catch (error) {
      if (!isKeyResolutionError(error)) throw error;
      const root = ROOT.exec(error.expression ?? '')?.[1] ?? '';
      if (parameters.computed.has(root) && scope(root) === undefined) throw defaultError(error, root);
      throw fields.includes(root) ? keyErrorOfRequest(error, requestFor(error.expression!)) : error;
    }
  };
  const readIfAny = (...call: Call) => (template.isPresent(scopeOf(call)) ? read(...call) : undefined);
  return { read, readIfAny };
}

/**
 * The names of a method's calls in templates: its parameters, their positions, and the fields of the current request.
 * @param what names the template in errors
 */
export function scopeOfCalls(
  params: readonly string[] | undefined,
  where: string,
  method: Method,
): (args: readonly unknown[], sluice: Sluice, what: string) => KeyScope {
  let parameters: MethodParameters | undefined;
  return (args, sluice, what) => (root) => {
    parameters ??= readParameters(method, params);
    const read = parameterReader(parameters, root) ?? fieldReader(root);
    if (read === undefined) throw unknownRoot(where, what, root, parameters);
    return read(args, sluice);
  };
}

function parameterReader({ names, positions }: MethodParameters, root: string): ReadRoot | undefined {
  const named = names?.get(root);
  if (named !== undefined || !POSITION.test(root)) return named;
  const position = Number(root);
  return positions[position] ?? ((args) => args[position]);
}

function fieldReader(root: string): ReadRoot | undefined {
  // An address is a client here, too, as in the templates of requests.
  if (root === 'ip') return (_args, sluice, ipv6Subnet) => sluice.ip(requestFor('#{ip}'), ipv6Subnet);
  const field = REQUEST_FIELDS.find((name) => name === root);
  return field && (() => requestField(requestFor(`#{${field}}`), field));
}

/** The method accepts the call, so the mistake is in the program. */
const defaultError = ({ message, expression }: KeyResolutionError, root: string): KeyResolutionError =>
  new KeyResolutionError(
    `${message}. The parameter ${root} has a default value that a decorator cannot see, because the method computes it: pass the argument, ` +
      'or let key be a function with the same default',
    expression,
    500,
  );

function requestFor(what: string): RequestView {
  const request = currentRequest();
  if (request !== undefined) return request;
  throw new KeyResolutionError(
    `${what} reads the current request, and there is none: install requestContext of @sluice/express, @sluice/fastify ` +
      'or @sluice/koa in front of the routes, or SluiceModule of @sluice/nestjs',
    what,
    500,
  );
}

function unknownRoot(where: string, what: string, root: string, { names }: MethodParameters): RangeError {
  const own = [...(names?.keys() ?? [])];
  const parameters =
    names === undefined
      ? 'a parameter (their names cannot be read from this function)'
      : `a parameter (${own.join(', ') || 'it has none with a name'})`;
  const meant = nearest(root, [...own, ...REQUEST_FIELDS]) ?? nearest(root, own, 1 / 2);
  const typo = didYouMean(meant) || '.';
  return new RangeError(
    `${where}: the ${what} uses '${root}', which is neither ${parameters} nor a position ` +
      `(0 to 99) nor a field of the current request (${REQUEST_FIELDS.join(', ')})${typo} Where the code is minified or a ` +
      `parameter has no name of its own, declare the names in order: params: ['${root}', …]`,
  );
}
