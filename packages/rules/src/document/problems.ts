import { SluiceError } from '@sluice/core';
import { didYouMean } from '@sluice/core/internal';

/** A path in a document: `['rules', 0, 'limit', 'gcra']`. */
export type Path = readonly (string | number)[];

/** One problem of a document. */
export interface Problem {
  readonly message: string;
  /** Line, from 1. Undefined for a document that is an object. */
  readonly line: number | undefined;
  /** Column, from 1. */
  readonly column: number | undefined;
  /** Such as `rules[0].limit.gcra.period`; empty for the whole document. */
  readonly path: string;
  /** The nearest valid word for a misspelt one. */
  readonly hint: string | undefined;
}

/** An invalid document, with all its problems. */
export class RulesError extends SluiceError {
  readonly code = 'SLUICE_RULES';

  /** @param file the name of the document, for the message */
  constructor(
    readonly problems: readonly Problem[],
    readonly file: string | undefined,
  ) {
    const [first] = problems;
    super(
      problems.length === 1
        ? problemLine(first!, file)
        : `${problems.length} problems in ${file ?? 'the rules'}:\n${problems.map((problem) => problemLine(problem, file)).join('\n')}`,
    );
  }
}

export const isRulesError = (error: unknown): error is RulesError =>
  error instanceof Error && (error as Partial<RulesError>).code === 'SLUICE_RULES';

/** `limits.yaml:3:7: message; did you mean 'word'?` */
export function problemLine({ message, line, column, path, hint }: Problem, file?: string): string {
  const place = line === undefined ? [file, path || undefined] : [file, line, column];
  const start = place.filter((part) => part !== undefined).join(':');
  return `${start === '' ? '' : `${start}: `}${message}${didYouMean(hint)}`;
}

/** `rules[0].limit` */
export const pathText = (path: Path): string =>
  path
    .map((step, i) => (typeof step === 'number' ? `[${step}]` : `${i === 0 ? '' : '.'}${step}`))
    .join('')
    .replace(/^\./, '');

const idOf = (path: Path): string => path.join('\0');

/** The most problems that are reported. */
const MOST = 100;

/** Collects problems with their positions. */
export class Report {
  readonly problems: Problem[] = [];
  /** The paths of problems, and of all objects around them. */
  readonly #places = new Set<string>();
  readonly #around = new Set<string>();
  /** Fields that are missing under their correct name. */
  readonly #misspelt = new Set<string>();

  /** @param locate the position of a value, or of its key */
  constructor(
    readonly locate: (path: Path, atKey: boolean) => { line: number; column: number } | undefined = () =>
      undefined,
  ) {}

  /** @param atKey the name of the last step is wrong, not its value */
  add(
    path: Path,
    message: string,
    { hint, atKey = false }: { hint?: string | undefined; atKey?: boolean } = {},
  ): void {
    if (atKey && hint !== undefined) this.#misspelt.add(idOf([...path.slice(0, -1), hint]));
    this.#places.add(idOf(path));
    for (let i = 0; i <= path.length; i++) this.#around.add(idOf(path.slice(0, i)));
    this.#push(message, this.locate(path, atKey), pathText(path), hint);
  }

  /** A problem of the text, found before it was parsed. */
  addAt(at: { line: number; column: number } | undefined, message: string): void {
    this.#push(message, at, '', undefined);
  }

  #push(
    message: string,
    at: { line: number; column: number } | undefined,
    path: string,
    hint: string | undefined,
  ) {
    if (this.problems.length >= MOST) return;
    // An alias is checked once for each place where it is used.
    const isKnown = (one: Problem) =>
      one.message === message && one.line === at?.line && one.column === at?.column;
    if (at !== undefined && this.problems.some(isKnown)) return;
    this.problems.push({ message, line: at?.line, column: at?.column, path, hint });
  }

  /** Has neither the value at `path`, nor one around or within it, a problem? */
  isClean(path: Path): boolean {
    return !this.#around.has(idOf(path)) && path.every((_, i) => !this.#places.has(idOf(path.slice(0, i))));
  }

  /** Was the field reported under a misspelt name? */
  isMisspelt(path: Path): boolean {
    return this.#misspelt.has(idOf(path));
  }

  /** @throws RulesError with all problems, in the order of the text */
  throwIfAny(file: string | undefined): void {
    if (this.problems.length === 0) return;
    const order = ({ line = 0, column = 0 }: Problem) => line * 1e6 + column;
    throw new RulesError(
      [...this.problems].sort((a, b) => order(a) - order(b)),
      file,
    );
  }
}
