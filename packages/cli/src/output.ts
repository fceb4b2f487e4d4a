import { coloured, forTerminal, safeJson, table, wrapped } from './text.js';

/** Where output goes: a terminal, a pipe or a file. */
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

/** Programs that read a pipe want whole lines. */
export function columnsOf({ columns, isTTY }: OutputStream, env: NodeJS.ProcessEnv): number {
  const wanted = Number(env.COLUMNS);
  // Some terminals of build servers say that they have 0 columns.
  return Math.max(20, columns || (wanted > 0 ? wanted : isTTY ? 80 : 1_000));
}

/** Writes either texts for people, or one JSON value a line. Texts may be of others: nothing in them commands the terminal. */
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

  /** Is there a terminal to draw on? */
  get isScreen(): boolean {
    return this.stream.isTTY === true && !this.isJson && this.env.TERM !== 'dumb';
  }

  /** Commands for the terminal. */
  raw(text: string): void {
    this.stream.write(text);
  }

  /** One line, however long. Nothing with `--json`. */
  line(text = ''): void {
    if (!this.isJson) this.stream.write(`${forTerminal(text)}\n`);
  }

  lines(texts: readonly string[]): void {
    for (const text of texts) this.line(text);
  }

  /** A sentence, broken at the width of the terminal. Nothing with `--json`. */
  say(text: string, indent = ''): void {
    this.lines(wrapped(text, this.width, indent));
  }

  /** Nothing with `--json`. */
  table(heads: readonly string[], rows: readonly (readonly string[])[]): void {
    this.lines(table(heads, rows, this.width));
  }

  /** A value for programs; nothing without `--json`. */
  json(value: unknown): void {
    if (this.isJson) this.stream.write(`${safeJson(value)}\n`);
  }
}
