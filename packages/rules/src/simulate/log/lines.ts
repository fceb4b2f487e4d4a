/** A longer line is not read: 256 KB, several times the longest URL that servers accept. */
export const LONGEST_LINE = 262_144;

const NEWLINE = 10;
const BYTE_ORDER_MARK = '\ufeff';

/** Cuts chunks of bytes into lines, in bounded memory. Bytes that are not UTF-8 become U+FFFD. */
export class Lines {
  /** The start of a line, from earlier chunks. */
  #parts: Buffer[] = [];
  #length = 0;
  /** Number of lines so far. */
  count = 0;

  /** @param each receives every non-empty line without its line break, and undefined in place of a line that is too long */
  push(chunk: Buffer, each: (line: string | undefined, number: number) => void): void {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      this.#finish(chunk, start, end, each);
      start = end + 1;
    }
    if (start === chunk.length) return;
    this.#length += chunk.length - start;
    // The rest of a line that is too long is counted but not kept.
    if (this.#length <= LONGEST_LINE) this.#parts.push(Buffer.from(chunk.subarray(start)));
    else this.#parts = [];
  }

  /** Passes on the last line if it has no line break. */
  end(each: (line: string | undefined, number: number) => void): void {
    if (this.#length > 0) this.#finish(Buffer.alloc(0), 0, 0, each);
  }

  #finish(
    chunk: Buffer,
    start: number,
    end: number,
    each: (line: string | undefined, number: number) => void,
  ): void {
    this.count += 1;
    const length = this.#length + end - start;
    if (length > LONGEST_LINE) {
      each(undefined, this.count);
    } else {
      const begun = this.#length > 0;
      const bytes = begun ? Buffer.concat([...this.#parts, chunk.subarray(start, end)]) : chunk;
      let text = begun ? bytes.toString('utf8') : bytes.toString('utf8', start, end);
      if (this.count === 1 && text.startsWith(BYTE_ORDER_MARK)) text = text.slice(1);
      if (text.endsWith('\r')) text = text.slice(0, -1);
      if (text.trim() !== '') each(text, this.count);
    }
    this.#parts = [];
    this.#length = 0;
  }
}
