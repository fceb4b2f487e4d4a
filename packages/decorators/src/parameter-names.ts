import { readProperty } from '@sluice/core/internal';
import { type Expression, type Pattern, parseExpressionAt } from 'acorn';
import { type Method, originalOf } from './wrap-method.js';

/** Finds the value of a parameter among the arguments of a call. */
export type ReadParameter = (args: readonly unknown[]) => unknown;

/** The parameters of a method, and how to read their values. */
export interface MethodParameters {
  /** Undefined without source (native and bound functions), unless they are declared. */
  readonly names: ReadonlyMap<string, ReadParameter> | undefined;
  /** The names in the source, in order. */
  readonly positions: readonly ReadParameter[];
  /** Names and positions whose default only the method itself can compute. */
  readonly computed: ReadonlySet<string>;
}

const IDENTIFIER = /^[\p{ID_Start}_$][\p{ID_Continue}$]*$/u;

/**
 * Reads parameters from the method's source, with names also in destructured objects. A default is used if it is a plain value. Other defaults
 * count as missing, because only the method itself can compute them.
 * @param declared the attribute `params`: the names, if they differ from the source
 */
export function readParameters(method: Method, declared?: readonly string[]): MethodParameters {
  const parameters = parseParameters(Function.prototype.toString.call(originalOf(method)));
  const names = new Map<string, ReadParameter>();
  const computed = new Set<string>();
  const positions = (parameters ?? []).map((parameter, position): ReadParameter => {
    const read: ReadParameter = (args) => args[position];
    if (parameter.type === 'RestElement') collect(parameter.argument, (args) => args.slice(position), names);
    else collect(parameter, read, names);
    if (parameter.type !== 'AssignmentPattern') return read;
    const { left, right } = parameter;
    const fallback = plainValue(right);
    if (fallback === undefined) {
      computed.add(String(position));
      const name = declared === undefined && left.type === 'Identifier' ? left.name : declared?.[position];
      if (name !== undefined) computed.add(name);
    }
    return (args) => withDefault(read(args), fallback);
  });
  if (declared === undefined) return { names: parameters && names, positions, computed };
  const named = declared.map((name, i) => [name, positions[i] ?? ((args) => args[i])] as const);
  return { names: new Map(named), positions, computed };
}

/**
 * The names in the attribute `params`, in the order of the parameters.
 * @throws TypeError unless they are different JavaScript names
 */
export function declaredParameterNames(where: string, params: unknown): readonly string[] {
  const valid =
    Array.isArray(params) &&
    params.every((name) => typeof name === 'string' && IDENTIFIER.test(name)) &&
    new Set(params).size === params.length;
  if (!valid) {
    throw new TypeError(
      `${where}: params must list the names of the method's parameters in their order, such as ['phone', 'code'], ` +
        `each a JavaScript name and none twice, not ${JSON.stringify(params) ?? String(params)}`,
    );
  }
  return [...(params as string[])];
}

/** The source of a function parses as an expression, the source of a method only inside a class. */
function parseParameters(source: string): Pattern[] | undefined {
  const options = { ecmaVersion: 'latest', sourceType: 'module', checkPrivateFields: false } as const;
  for (const code of [`(${source}\n)`, `(class {${source}\n})`]) {
    try {
      const node = parseExpressionAt(code, 0, options);
      if (node.type === 'FunctionExpression' || node.type === 'ArrowFunctionExpression') return node.params;
      if (node.type !== 'ClassExpression') return undefined;
      const [member] = node.body.body;
      return member?.type === 'MethodDefinition' ? member.value.params : undefined;
    } catch {
      // the other form, or a syntax that acorn does not know: the caller's error names `params`
    }
  }
  return undefined;
}

function collect(pattern: Pattern, read: ReadParameter, names: Map<string, ReadParameter>): void {
  if (pattern.type === 'Identifier') {
    names.set(pattern.name, read);
  } else if (pattern.type === 'AssignmentPattern') {
    const fallback = plainValue(pattern.right);
    collect(pattern.left, (args) => withDefault(read(args), fallback), names);
  } else if (pattern.type === 'ObjectPattern') {
    for (const property of pattern.properties) {
      const key = property.type === 'Property' && !property.computed ? property.key : undefined;
      const name =
        key?.type === 'Identifier' ? key.name : key?.type === 'Literal' ? String(key.value) : undefined;
      if (property.type === 'Property' && name !== undefined) {
        collect(property.value, (args) => readProperty(read(args), name), names);
      }
    }
  }
}

const withDefault = (value: unknown, fallback: unknown) => (value === undefined ? fallback : value);

/** The value of a literal; undefined for an expression that must be computed. */
function plainValue(value: Expression): unknown {
  if (value.type === 'Literal') return value.regex === undefined ? value.value : undefined;
  if (value.type === 'TemplateLiteral' && value.expressions.length === 0)
    return value.quasis[0]?.value.cooked;
  if (value.type === 'UnaryExpression' && value.operator === '-' && value.argument.type === 'Literal') {
    return typeof value.argument.value === 'number' ? -value.argument.value : undefined;
  }
  return undefined;
}
