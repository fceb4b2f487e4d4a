import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { addAbortSignal, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { SluiceError } from '@sluice/core';
import { checkOptions, describe } from '@sluice/core/internal';
import type { LogFormat } from './format.js';
import { detectFormat, formatOf, type LogFormatName } from './formats.js';
import type { JsonFields } from './json-lines.js';
import { Lines, LONGEST_LINE } from './lines.js';
import type { LogRequest } from './log-request.js';

/** A file, compressed if its name ends with `.gz`, or a stream of text. */
export type LogSource = string | Readable;

export interface LogOptions {
  /** Default: detected from the first lines of each file. */
  readonly format?: LogFormatName | undefined;
  /** For JSON lines: the names of the fields. */
  readonly fields?: JsonFields | undefined;
  /** Aborts reading with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** A line that is not a request. */
export interface BadLine {
  readonly file: string;
  /** Number of the line, from 1. */
  readonly line: number;
  /** The reason as the end of a sentence: `is not a JSON object`. */
  readonly reason: string;
  /** The beginning of the line. */
  readonly text: string;
}

/** Counts of a log that was read. */
export interface LogCounts {
  lines: number;
  requests: number;
  /** Lines that are not requests. */
  bad: number;
  /** The first bad lines. */
  readonly firstBad: BadLine[];
  /** Each file with its format and its damage, such as a compressed file that ends early. */
  readonly files: { name: string; format: string; damage: string | undefined }[];
}

const SHOWN = 5;
const SHOWN_CHARACTERS = 100;
/** The number of lines from which the format of a file is detected. */
const FIRST = 50;

/** The format of a log was not found. */
export class LogFormatError extends SluiceError {
  readonly code = 'SLUICE_LOG_FORMAT';

  constructor(
    readonly file: string,
    line: string,
  ) {
    super(
      `${file}: no line among the first ${FIRST} is a request of a known format; the first one begins with ` +
        `${describe(line.slice(0, SHOWN_CHARACTERS))}. Name the format, and for JSON the fields`,
    );
  }
}

export const isLogFormatError = (error: unknown): error is LogFormatError =>
  error instanceof Error && (error as Partial<LogFormatError>).code === 'SLUICE_LOG_FORMAT';

/**
 * Reads the requests of a log, in the order of its lines and in bounded memory. Bad lines are counted.
 * @param counts is filled while reading
 * @throws LogFormatError; errors of the file system
 */
export async function* readLog(
  source: LogSource | readonly LogSource[],
  options: LogOptions = {},
  counts: LogCounts = newCounts(),
): AsyncGenerator<readonly LogRequest[], LogCounts> {
  checkOptions('readLog', options, ['format', 'fields', 'signal']);
  for (const one of [source].flat() as LogSource[]) {
    const name = typeof one === 'string' ? basename(one) : 'stdin';
    yield* new FileReader(name, options, counts).read(one);
  }
  return counts;
}

export const newCounts = (): LogCounts => ({ lines: 0, requests: 0, bad: 0, firstBad: [], files: [] });

class FileReader {
  readonly #lines = new Lines();
  readonly #file: { name: string; format: string; damage: string | undefined };
  #format: LogFormat | undefined;
  /** Lines read before the format is known. */
  #first: [text: string | undefined, number: number][] = [];
  #found: LogRequest[] = [];

  constructor(
    readonly name: string,
    readonly options: LogOptions,
    readonly counts: LogCounts,
  ) {
    const { format, fields } = options;
    this.#format = format === undefined ? undefined : formatOf(format, fields);
    this.#file = { name, format: this.#format?.name ?? '', damage: undefined };
  }

  async *read(source: LogSource): AsyncGenerator<readonly LogRequest[]> {
    const { counts } = this;
    counts.files.push(this.#file);
    const take = (text: string | undefined, number: number) => this.#take(text, number);
    try {
      for await (const chunk of bytesOf(source, this.options.signal)) {
        this.#lines.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk, take);
        if (this.#found.length > 0) yield this.#batch();
      }
    } catch (error) {
      // zlib failed: the lines read so far count.
      if (!String((error as NodeJS.ErrnoException).code).startsWith('Z_')) throw error;
      this.#file.damage = (error as Error).message;
    }
    this.#lines.end(take);
    this.#begin();
    if (this.#found.length > 0) yield this.#batch();
  }

  #batch(): readonly LogRequest[] {
    const batch = this.#found;
    this.#found = [];
    return batch;
  }

  #take(text: string | undefined, number: number): void {
    this.counts.lines += 1;
    if (this.#format !== undefined) {
      this.#parse(this.#format, text, number);
    } else {
      this.#first.push([text, number]);
      if (this.#first.length >= FIRST) this.#begin();
    }
  }

  /** Detects the format, and reads the buffered lines. */
  #begin(): void {
    if (this.#format !== undefined || this.#first.length === 0) return;
    const lines = this.#first.flatMap(([text]) => (text === undefined ? [] : [text]));
    const format = detectFormat(lines, this.options.fields);
    if (format === undefined) throw new LogFormatError(this.name, lines[0] ?? '');
    this.#format = format;
    this.#file.format = format.name;
    for (const [text, number] of this.#first) this.#parse(format, text, number);
    this.#first = [];
  }

  #parse(format: LogFormat, text: string | undefined, number: number): void {
    const request = text === undefined ? `is longer than ${LONGEST_LINE / 1024} KB` : format.parse(text);
    const { counts, name } = this;
    if (typeof request !== 'string') {
      request.line = number;
      request.file = name;
      counts.requests += 1;
      this.#found.push(request);
      return;
    }
    counts.bad += 1;
    if (counts.firstBad.length < SHOWN) {
      const begin = (text ?? '').slice(0, SHOWN_CHARACTERS);
      counts.firstBad.push({ file: name, line: number, reason: request, text: begin });
    }
  }
}

function bytesOf(source: LogSource, signal: AbortSignal | undefined): AsyncIterable<Buffer | string> {
  const stream = typeof source === 'string' ? createReadStream(source) : source;
  if (signal !== undefined) addAbortSignal(signal, stream);
  if (typeof source !== 'string' || !source.endsWith('.gz')) return stream;
  const gunzip = createGunzip();
  stream.on('error', (error: Error) => gunzip.destroy(error));
  return stream.pipe(gunzip);
}
