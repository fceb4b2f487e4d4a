/** One step of a path: a property name, or a step that can find several values, `*` or a slice. */
export interface Step {
  readonly name: string;
  readonly wide: boolean;
}

export interface ParsedPath {
  readonly steps: readonly Step[];
  /** Index of the character after the path and the blanks behind it. */
  readonly end: number;
}

/** Called with what is wrong and where; throws. */
export type Fail = (problem: string, position: number) => never;

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

/** Reads one path of a key expression: `user.id`, `0.phone`, `headers['x-id']`, `items[0]`, `items[*].id`. */
export function parsePath(text: string, start: number, fail: Fail): ParsedPath {
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
    return fail(describeProblem(text, position), position);
  }
}

function describeProblem(text: string, position: number): string {
  const char = text[position];
  if (char === undefined) return 'the expression is not closed';
  if (char === '?' || char === '(' || char === '@') {
    return 'filters and scripts are not supported; compute the value first';
  }
  if (char === '.' && text[position - 1] === '.') return "'..' is not supported; write the whole path";
  if (char === '#') return 'expressions do not nest';
  if (char === '-' && text[position - 1] === '[') return 'there is no negative index; the last item is [-1:]';
  if (char === '}' || char === '>' || char === ']') return 'a name is missing';
  return `unexpected ${JSON.stringify(char)}; write an unusual name as ['name']`;
}

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ') at++;
  return at;
}
