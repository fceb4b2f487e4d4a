import type { Reader, Wire } from './reader.js';

/** One event of `text/event-stream`. */
export interface Frame {
  /** As it was received, with the empty line behind it. */
  readonly text: string;
  /** Its JSON. */
  readonly data: Wire;
}

/** Between two events. */
const END = /\r?\n\r?\n/g;

/** The events of a body. */
export async function* framesOf(body: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    rest += decoder.decode(bytes, { stream: true });
    let from = 0;
    for (const { index, 0: end } of rest.matchAll(END)) {
      yield frameOf(rest.slice(from, index + end.length));
      from = index + end.length;
    }
    rest = rest.slice(from);
  }
  rest += decoder.decode();
  if (rest !== '') yield frameOf(rest);
}

function frameOf(text: string): Frame {
  const lines = [...text.matchAll(/^data: ?(.*)$/gm)].map(([, line]) => line);
  return { text, data: parseJson(lines.join('\n')) };
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
