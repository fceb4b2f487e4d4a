import type { Output } from './output.js';
import { forTerminal, widthOf } from './text.js';

/** Sequences that switch to another screen with a hidden cursor, and back; and one that moves to the first line and clears the rest. */
const [ENTER, LEAVE, CLEAR] = ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l', '\u001b[H\u001b[J'];

/** A whole terminal: each view replaces the one before, and the end restores the earlier content. In a pipe, views follow each other. */
export class Screen {
  constructor(private readonly output: Output) {}

  open(): void {
    if (this.output.isScreen) this.output.raw(ENTER);
  }

  close(): void {
    if (this.output.isScreen) this.output.raw(LEAVE);
  }

  draw(lines: readonly string[]): void {
    if (this.output.isScreen) this.output.raw(CLEAR + this.#fitting(lines).map(forTerminal).join('\n'));
    else this.output.lines([...lines, '']);
  }

  /** The lines that fit the terminal: more lines would scroll the first ones away. */
  #fitting(lines: readonly string[]): string[] {
    const { width, height } = this.output;
    let left = height - 1;
    const fitting: string[] = [];
    for (const line of lines) {
      left -= Math.max(1, Math.ceil(widthOf(line) / width));
      if (left < 0) return [...fitting, this.output.style('dim', '…')];
      fitting.push(line);
    }
    return fitting;
  }
}
