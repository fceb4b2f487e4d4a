import type { Reader, Wire } from './reader.js';

/** One event of `text/event-stream`. */
export interface Frame {
  /** As it was received, with the empty line behind it. */
  readonly text: string;
  /** Its JSON. */
  readonly data: Wire;
}

/** Characters of the end of an event that may have arrived before its last one. */
const MOST_END = 3;

/** A line ends with CR, LF or both. */
const LINE_END = /\r\n|\r|\n/;

/** The events of a body. */
export async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  // A CR that arrived last ends an event if the line before ended so, too. Otherwise its LF follows.
  const end = /\r\r\n?|\r?\n(?:\r?\n|\r(?=[\s\S]))/g;
  /** Of the event so far: its text before `rest`, in which it does not end. */
  const searched: string[] = [];
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    let from = 0;
    end.lastIndex = 0;
    while (end.test(rest)) {
      yield frameOf(searched.splice(0).join('') + rest.slice(from, end.lastIndex));
      from = end.lastIndex;
    }
    const searchedTo = Math.max(from, rest.length - MOST_END);
    searched.push(rest.slice(from, searchedTo));
    rest = rest.slice(searchedTo);
  }
  const last = searched.join('') + rest + decoder.decode();
  if (last !== '') yield frameOf(last);
}

function frameOf(text: string): Frame {
  // Not by `^` and `$`: they also match at U+2028, which JSON has within texts.
  const lines = text.split(LINE_END).filter((line) => line.startsWith('data:'));
  const data = lines.map((line) => line.slice('data:'.length).replace(/^ /, '')).join('\n');
  return { text, data: parseJson(data) };
}

/** @returns undefined for other text, such as `[DONE]`: the program's client reads it, too, and reports faults */
export function parseJson(text: string): Wire {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The same reader for frames. */
export function frameReader(reader: Reader): Reader {
  return {
    get figures() {
      return reader.figures;
    },
    get isComplete() {
      return reader.isComplete ?? false;
    },
    read: ({ data }: Frame) => (data ? reader.read(data) : ''),
    hides: ({ data }: Frame) => (data && reader.hides?.(data)) ?? false,
    end: (stop, usage) => reader.end(stop, usage).map(writeFrame),
  };
}

function writeFrame(data: Wire): Frame {
  const event = data.type === undefined ? '' : `event: ${data.type}\n`;
  const json = typeof data === 'string' ? data : JSON.stringify(data);
  return { text: `${event}data: ${json}\n\n`, data };
}
