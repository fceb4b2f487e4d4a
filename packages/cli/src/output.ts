import { coloured, forTerminal, safeJson, table, wrapped } from './text.js';

/** The destination of output: a terminal, a pipe or a file. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;
export type Style = keyof typeof CODES;

/** The width in columns. It is large for a pipe: programs that read one expect whole lines. */
export function columnsOf({ columns, isTTY }: OutputStream, env: NodeJS.ProcessEnv): number {
  const wanted = Number(env.COLUMNS);
  // Some terminals of build servers report 0 columns.
  return Math.max(20, columns || (wanted > 0 ? wanted : isTTY ? 80 : 1_000));
}

/** Writes either texts for people, or one JSON value a line. Texts can come from others, so control characters are escaped. */
export class Output {
  readonly #isColoured: boolean;

  constructor(
    private readonly stream: OutputStream,
    readonly isJson: boolean,
    private readonly env: NodeJS.ProcessEnv,
    noColor: boolean,
  ) {
    const refused = noColor || (env.NO_COLOR !== undefined && env.NO_COLOR !== '') || env.TERM === 'dumb';
    this.#isColoured = stream.isTTY === true && !refused && !isJson;
  }

  /** Changes with the size of the terminal. */
  get width(): number {
    return columnsOf(this.stream, this.env);
  }

  /** Lines of the terminal. */
  get height(): number {
    return this.stream.rows ?? 24;
  }

  style(style: Style, text: string): string {
    if (!this.#isColoured) return text;
    const [begin, end] = CODES[style];
    return coloured(text, begin, end);
  }

  /** Is the output a terminal? */
  get isScreen(): boolean {
    return this.stream.isTTY === true && !this.isJson && this.env.TERM !== 'dumb';
  }

  /** Writes control sequences for the terminal. */
  raw(text: string): void {
    this.stream.write(text);
  }

  /** Writes one line without breaking it. Writes nothing with `--json`. */
  line(text = ''): void {
    if (!this.isJson) this.stream.write(`${forTerminal(text)}\n`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  /** Writes a sentence, broken at the width of the terminal. Writes nothing with `--json`. */
  say(text: string, indent = ''): void {
    this.lines(wrapped(text, this.width, indent));
  }

  /** Writes nothing with `--json`. */
  table(heads: readonly string[], rows: readonly (readonly string[])[]): void {
    this.lines(table(heads, rows, this.width));
  }

  /** Writes a value for programs; writes nothing without `--json`. */
  json(value: unknown): void {
    if (this.isJson) this.stream.write(`${safeJson(value)}\n`);
  }
}
