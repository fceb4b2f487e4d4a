import type { LeftOut } from '@sluice/fleet';
import { columnsOf, type OutputStream } from './output.js';
import { forTerminal, wrapped } from './text.js';

/** Writes a text of several lines, each broken at the width of the terminal. */
export function writeText(stream: OutputStream, env: NodeJS.ProcessEnv, text: string): void {
  const width = columnsOf(stream, env);
  for (const line of text.split('\n').flatMap((part) => wrapped(part, width)))
    stream.write(`${forTerminal(line)}\n`);
}

/** The most texts that are named: another program can write any number of them. */
const MOST = 10;

/** Notes beside the output. They are written to stderr, so that programs that read the output do not receive them. */
export class Notes {
  readonly #leftOut = new Set<string>();

  constructor(
    private readonly stream: OutputStream,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  say(text: string): void {
    writeText(this.stream, this.env, `sluice: ${text}`);
  }

  /** Notes a published text that cannot be read. Each one is named once. */
  readonly leftOut = ({ process, reason }: LeftOut): void => {
    const text = `What process ${process} published is left out: ${reason}.`;
    if (this.#leftOut.size > MOST || this.#leftOut.has(text)) return;
    this.#leftOut.add(text);
    this.say(this.#leftOut.size > MOST ? 'More that was published is left out.' : text);
  };
}
