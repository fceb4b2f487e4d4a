import { describe } from '../options.js';
import { parsePath, type Step } from './path-syntax.js';

/** One `#{…}` or `#<…>` of a template. */
export interface Expression {
  /** As written, such as `#{user.id}`. */
  readonly source: string;
  readonly root: string;
  /** The steps after the root. */
  readonly path: readonly Step[];
}

export interface ParsedTemplate {
  /** The texts around the expressions: one more than expressions. */
  readonly texts: readonly string[];
  readonly expressions: readonly Expression[];
}

const MAX_LENGTH = 1_000;
const CLOSE: Readonly<Record<string, string>> = { '{': '}', '<': '>' };

/**
 * Splits a key template into its texts and expressions, in one pass.
 * @throws TypeError if it is not a string; RangeError, naming the template and the remedy, if it is malformed or has no expression.
 */
export function parseTemplate(template: string): ParsedTemplate {
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
    if (template[end] !== close) fail(unclosed(template, end, close), end);
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
      "To share one count on purpose, use limitType 'METHOD' without a key",
  );
}

function unclosed(template: string, position: number, close: string): string {
  const char = template[position];
  if (char === undefined) return `the expression is not closed; add '${close}'`;
  if (char === '#') return 'expressions do not nest';
  if (char === '(') return 'calls and scripts are not supported; compute the value first';
  return `expected '${close}', not ${JSON.stringify(char)}`;
}
