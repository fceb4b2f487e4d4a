import { KeyResolutionError } from '../errors.js';
import { describe } from '../options.js';
import { jsonPathReader, MOST_VALUES, readProperty } from './property.js';
import { encodePart, keyPart, separates } from './redis-key.js';
import { type Expression, parseTemplate } from './template-syntax.js';

/** Returns the value of a root name (`user`, `req`, `0`), or undefined. The caller decides what names mean. */
export type KeyScope = (root: string) => unknown;

/** A compiled key template. */
export interface KeyTemplate {
  /** The template as written. */
  readonly source: string;
  /** The first names of its expressions, each once: `['user', '0']` for `order:#{user.id}:#{0}`. */
  readonly roots: readonly string[];
  /** The paths of its expressions, such as `headers.x-id+user.id`: the same for templates that read the same values. No `:`. */
  readonly valueNames: string;
  /** The key for one call. @throws KeyResolutionError unless each value is a string, a finite number, a bigint or a boolean */
  resolve(scope: KeyScope): string;
  /** Does a call have all values? Missing are `undefined`, `null` and the empty string. */
  isPresent(scope: KeyScope): boolean;
}

interface Value {
  /** The text of the value. @throws KeyResolutionError */
  read(scope: KeyScope): string;
  isPresent(scope: KeyScope): boolean;
}

/**
 * Compiles a key template, once, at start-up.
 *
 * `#{user.id}` and `#<user.id>` mean the same; `#{0}` and `#{0.phone}` begin at a position. A template may have text and several
 * expressions: `order:#{user.id}:#{0}`. Names are letters, digits, `_`, `$` and `-`; write others as `['x.y']`. Steps find own properties
 * and class accessors only, never methods or inherited values. `[*]`, `.*` and slices (`[-1:]`) load jsonpath-plus, and must find exactly
 * one value among at most 1,000 on the path. Recursion (`..`), filters and scripts are refused. A template without an expression is refused
 * too: all calls would share one key.
 *
 * A single value is inserted as it is. Of several, each is encoded (`encodePart`), and a text between two without any of `: / | ; #` or a
 * space gets a `:`, so different values never make the same key.
 *
 * Templates are code: never build one from a request. An address is plain text here, so `#{req.ip}` counts each IPv6 address and each
 * spelling separately: count clients by `LimitType.IP` or `clientIp`.
 * @param template 1 to 1,000 characters; a path has at most 16 steps
 * @throws TypeError if it is not a string; RangeError, naming the remedy, if it is malformed or has no expression
 */
export function compileKey(template: string): KeyTemplate {
  const { texts, expressions } = parseTemplate(template);
  const roots = [...new Set(expressions.map(({ root }) => root))];
  const values = expressions.map((expression) => compileExpression(expression, template));
  const [first, second] = values as [Value, ...Value[]];
  const [head = '', ...rest] = texts;
  const common = {
    source: template,
    roots,
    valueNames: expressions.map(pathName).join('+'),
    isPresent: (scope: KeyScope) => values.every((value) => value.isPresent(scope)),
  };
  if (second === undefined) {
    const { read } = first;
    const tail = rest.join('');
    return { ...common, resolve: (scope) => head + read(scope) + tail };
  }
  const after = rest.map((text, i) => (i === rest.length - 1 || separates(text) ? text : `${text}:`));
  return {
    ...common,
    resolve(scope) {
      let key = head;
      for (let i = 0; i < values.length; i++) key += encodePart(values[i]!.read(scope)) + after[i];
      return key;
    },
  };
}

const pathName = ({ root, path }: Expression): string =>
  encodePart([root, ...path.map(({ name }) => name)].join('.'));

const isMissing = (value: unknown): boolean => value === undefined || value === null || value === '';

function compileExpression({ source, root, path }: Expression, template: string): Value {
  const what = `${source} in the key template ${describe(template)}`;
  const firstWide = path.findIndex((step) => step.wide);
  const names = (firstWide < 0 ? path : path.slice(0, firstWide)).map((step) => step.name);
  const follow = (scope: KeyScope): unknown => {
    let value = scope(root);
    for (const name of names) value = readProperty(value, name);
    return value;
  };
  if (firstWide < 0) {
    return {
      read: (scope) => keyPart(follow(scope), what, source),
      isPresent: (scope) => !isMissing(follow(scope)),
    };
  }
  const readAll = jsonPathReader(path.slice(firstWide));
  return {
    read(scope) {
      const found = readAll(follow(scope));
      if (found === 'too many' || found.length > 1) {
        const problem = found === 'too many' ? `more than ${MOST_VALUES}` : found.length;
        throw new KeyResolutionError(`${what} finds ${problem} values; it must find exactly one`, source);
      }
      return keyPart(found[0], what, source);
    },
    isPresent(scope) {
      const found = readAll(follow(scope));
      return found === 'too many' || found.some((value) => !isMissing(value));
    },
  };
}
