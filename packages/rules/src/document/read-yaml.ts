import {
  type Alias,
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  visit,
} from 'yaml';
import { type Path, Report } from './problems.js';
import { tooLarge } from './token-limits.js';

/** The value of a text, and the positions of its parts. */
export interface ReadDocument {
  readonly value: unknown;
  readonly report: Report;
}

/** The most words and signs of a document. The library needs 1 to 4 µs and a few hundred bytes for each; a rule has about 100. */
const MOST_SIGNS = 300_000;
/** The most values that a document can repeat through aliases. */
const MOST_ALIASES = 100;

/**
 * Reads YAML 1.2 or JSON. Anchors and aliases are allowed; merge keys and tags are not.
 * @returns no value if the text is malformed: the report has the position
 */
export function readYaml(text: string): ReadDocument {
  const lines = new LineCounter();
  const { tokens, end } = tokensOf(text, lines);
  let document: Document.Parsed | undefined;
  const report = new Report((path, atKey) => at(lines, document && offsetOf(document, path, atKey)));
  const problem = (message: string, offset: number) => report.addAt(at(lines, offset), message);

  if (end !== undefined) {
    problem(`the document has more than ${MOST_SIGNS} words and signs`, end);
    return { value: undefined, report };
  }
  const large = tooLarge(tokens);
  if (large !== undefined) {
    problem(large.message, large.offset);
    return { value: undefined, report };
  }
  const composer = new Composer({
    version: '1.2',
    schema: 'core',
    merge: false,
    strict: true,
    uniqueKeys: true,
    stringKeys: true,
  });
  const documents = [...composer.compose(tokens, true, text.length)] as Document.Parsed[];
  const [first, second] = documents;
  for (const { message, pos } of [...first!.errors, ...first!.warnings]) problem(plain(message), pos[0]);
  if (second !== undefined) problem('a file has one document: delete what begins with ---', second.range[0]);
  if (report.problems.length > 0) return { value: undefined, report };
  document = first!;
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }), report };
  } catch (error) {
    // The library throws a ReferenceError for an alias without an anchor, and for aliases that would multiply.
    if (!(error instanceof ReferenceError)) throw error;
    const unknown = unknownAlias(document);
    if (unknown === undefined) problem('the aliases stand for too many values: write some of them out', 0);
    else
      problem(
        `no anchor &${unknown.source} comes before the alias *${unknown.source}`,
        unknown.range?.[0] ?? 0,
      );
    return { value: undefined, report };
  }
}

function unknownAlias(document: Document): Alias | undefined {
  let found: Alias | undefined;
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      found = alias;
      return visit.BREAK;
    },
  });
  return found;
}

/** @returns `end`: the offset at which the text is too long */
function tokensOf(text: string, lines: LineCounter): { tokens: CST.Token[]; end?: number } {
  const tokens: CST.Token[] = [];
  const parser = new Parser(lines.addNewLine);
  let signs = 0;
  lines.addNewLine(0);
  for (const sign of new Lexer().lex(text)) {
    if (++signs > MOST_SIGNS) return { tokens, end: parser.offset };
    tokens.push(...parser.next(sign));
  }
  tokens.push(...parser.end());
  return { tokens };
}

const at = (lines: LineCounter, offset: number | undefined) => {
  if (offset === undefined) return undefined;
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
};

/** The position of the value at `path`, of its key, or of the nearest value around it. */
function offsetOf(document: Document.Parsed, path: Path, atKey: boolean): number {
  let node: unknown = document.contents;
  let offset = startOf(node) ?? 0;
  for (const [i, step] of path.entries()) {
    if (isAlias(node)) node = node.resolve(document);
    const found = isMap(node)
      ? node.items.find(({ key }) => String(isScalar(key) ? key.value : key) === String(step))
      : isSeq(node)
        ? node.items[Number(step)]
        : undefined;
    if (found === undefined) return offset;
    const pair = isPair(found) ? found : undefined;
    node = pair === undefined ? found : pair.value;
    const keyed = pair !== undefined && atKey && i === path.length - 1;
    offset = (keyed ? undefined : startOf(node)) ?? startOf(pair?.key) ?? offset;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined =>
  isNode(node) ? ((node as Node).range?.[0] ?? undefined) : undefined;

/** The first line of a message of the library. */
const plain = (message: string): string =>
  (message.split('\n')[0] as string).replace(/ at line \d+, column \d+:?$/, '');
