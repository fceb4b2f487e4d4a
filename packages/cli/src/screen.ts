import type { Output } from './output.js';
import { forTerminal, widthOf } from './text.js';

/** To another screen and back, the cursor hidden meanwhile; and to its first line, clearing what follows. */
const [ENTER, LEAVE, CLEAR] = ['\u001b[?1049h\u001b[?25l', '\u001b[?25h\u001b[?1049l', '\u001b[H\u001b[J'];

/** A whole terminal, on which each view replaces the one before. What was there comes back at the end. In a pipe the views follow. */
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

  /** As many as the terminal can show: it would move up what comes first. */
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
