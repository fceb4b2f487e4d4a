import { describe } from '../options.js';

/** One step of a path: a property name, or a step that can find several values, `*` or a slice. */
export interface Step {
  readonly name: string;
  readonly wide: boolean;
}

/** One `#{…}` or `#<…>` of a template. */
export interface Expression {
  /** As written, such as `#{user.id}`. */
  readonly source: string;
  readonly root: string;
  /** The steps after the root. */
  readonly path: readonly Step[];
}

/** Called with the problem and its position; throws. */
type Fail = (problem: string, position: number) => never;

const MAX_LENGTH = 1_000;
const MAX_STEPS = 16;
/** Each wide step can multiply the visited values, also in a client's document. */
const MAX_WIDE = 3;

// Sticky, and without backtracking.
const NAME = /[\p{L}\p{N}_$][\p{L}\p{N}\p{M}_$-]*/uy;
const QUOTED = /'([^']+)'|"([^"]+)"/y;
const INDEX = /\d+/y;
const SLICE = /\*|-?\d*:-?\d*(?::\d*)?/y;
/** Names without a special meaning in JSONPath: its dialects agree on no quoting. */
const WIDE_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}\p{M}_$-]*$/u;
const CLOSE: Readonly<Record<string, string>> = { '{': '}', '<': '>' };

/**
 * Splits a key template, in one pass, into its expressions and the texts around them: one more than expressions.
 * @throws TypeError if it is not a string; RangeError, naming the template and the remedy, if it is malformed or has no expression.
 */
export function parseTemplate(template: string): { texts: string[]; expressions: Expression[] } {
  if (typeof template !== 'string') {
    throw new TypeError(`A key template must be a string such as '#{user.id}', not ${describe(template)}`);
  }
  if (template === '' || template.length > MAX_LENGTH) {
    throw new RangeError(
      `A key template must have 1 to ${MAX_LENGTH} characters; ${describe(template)} has ${template.length}`,
    );
  }
  const texts: string[] = [];
  const expressions: Expression[] = [];
  let from = 0;
  for (let at = template.indexOf('#'); at >= 0; at = template.indexOf('#', at)) {
    const close = CLOSE[template.charAt(at + 1)];
    if (close === undefined) {
      at++; // a plain '#'
      continue;
    }
    const { steps, end } = parsePath(template, at + 2, fail);
    if (template[end] !== close) fail(problemAt(template, end, close), end);
    const [root, ...path] = steps as [Step, ...Step[]];
    pushText(template.slice(from, at));
    from = end + 1;
    expressions.push({ source: template.slice(at, from), root: root.name, path });
    at = from;
  }
  if (expressions.length === 0) throw oneForAll(template);
  pushText(template.slice(from));
  return { texts, expressions };

  function pushText(text: string): void {
    const bracket = text.search(/\$\{|\{\{/);
    if (bracket >= 0) fail(`'${text.slice(bracket, bracket + 2)}' is plain text here`, from + bracket);
    texts.push(text);
  }

  function fail(problem: string, position: number): never {
    throw new RangeError(
      `Key template ${describe(template)}, position ${position}: ${problem}. ` +
        'Write #{name}, #{name.field} or #{0}, each closed by its own bracket',
    );
  }
}

/** A path, once the brackets of other template languages are removed. */
const PATH = /^(?!-)[\w$-]+(?:\.[\w$-]+|\[\d+\]|\['[^']+'\])*$/;

/** A template without an expression gives every call the same key, which is rarely intended. */
function oneForAll(template: string): RangeError {
  const meant = template.replace(/^[\s$#:.{<(]+/, '').replace(/[\s)}>]+$/, '');
  const path = meant.length <= 60 && PATH.test(meant) ? meant : 'user.id';
  return new RangeError(
    `Key template ${describe(template)} has no expression, so all calls would share one count. Write '#{${path}}'. ` +
      "To share one count on purpose, use limitType 'METHOD' without a key, or in rules key: METHOD",
  );
}

/** Reads one path of a key expression, to the character after it and its blanks: `user.id`, `0.phone`, `headers['x-id']`, `items[0]`, `items[*].id`. */
function parsePath(text: string, start: number, fail: Fail): { steps: readonly Step[]; end: number } {
  const steps: Step[] = [];
  let wideSteps = 0;
  let at = skipBlanks(text, start);
  if (text[at] === '$' && (text[at + 1] === '.' || text[at + 1] === '[')) at += text[at + 1] === '.' ? 2 : 1;
  at = text[at] === '[' ? bracket(at) : name(at);
  while (text[at] === '.' || text[at] === '[') at = text[at] === '.' ? name(at + 1) : bracket(at);
  return { steps, end: skipBlanks(text, at) };

  function name(from: number): number {
    if (text[from] === '*') return push('*', true, from, from + 1);
    const [found] = match(NAME, from) ?? unexpected(from);
    return push(found, false, from, from + found.length);
  }

  function bracket(open: number): number {
    const from = open + 1;
    const quoted = match(QUOTED, from);
    const index = quoted ?? match(INDEX, from);
    // `[0:2]` begins like an index
    const plain = index && text[from + index[0].length] === ']' ? index : undefined;
    const found = plain ?? match(SLICE, from) ?? unexpected(from);
    const close = from + found[0].length;
    if (text[close] !== ']') unexpected(close);
    return push(found[1] ?? found[2] ?? found[0], plain === undefined, from, close + 1);
  }

  function push(value: string, wide: boolean, from: number, next: number): number {
    if (wide && steps.length === 0) fail('the first name must be a parameter or a position', from);
    if (wideSteps > 0 && !wide && !WIDE_NAME.test(value)) {
      fail("after '*' or a slice a name has only letters, digits, '_', '-' and, not at its start, '$'", from);
    }
    steps.push({ name: value, wide });
    if (wide) wideSteps++;
    if (steps.length > MAX_STEPS) fail(`a path has at most ${MAX_STEPS} steps`, from);
    if (wideSteps > MAX_WIDE) fail(`a path has at most ${MAX_WIDE} '*' or slices`, from);
    return next;
  }

  function match(pattern: RegExp, from: number): RegExpExecArray | null {
    pattern.lastIndex = from;
    return pattern.exec(text);
  }

  function unexpected(position: number): never {
    return fail(problemAt(text, position), position);
  }
}

/** @param close the bracket that is missing, after a complete path */
function problemAt(text: string, position: number, close?: string): string {
  const char = text[position];
  if (char === undefined)
    return `the expression is not closed${close === undefined ? '' : `; add '${close}'`}`;
  if (char === '#') return 'expressions do not nest';
  if (char === '?' || char === '(' || char === '@') {
    return 'calls, filters and scripts are not supported; compute the value first';
  }
  if (close !== undefined) return `expected '${close}', not ${JSON.stringify(char)}`;
  if (char === '.' && text[position - 1] === '.') return "'..' is not supported; write the whole path";
  if (char === '-' && text[position - 1] === '[') return 'there is no negative index; the last item is [-1:]';
  if (char === '}' || char === '>' || char === ']') return 'a name is missing';
  return `unexpected ${JSON.stringify(char)}; write an unusual name as ['name']`;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at++;
  return at;
}
