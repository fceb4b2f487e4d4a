import { StoreConfigurationError } from '../../errors.js';
import { describe } from '../../options.js';

/** A reply of a script, number by number. */
export class Numbers {
  readonly #reply: readonly unknown[];
  #place = 0;

  constructor(reply: unknown) {
    if (Array.isArray(reply)) this.#reply = reply;
    else this.#reply = Buffer.isBuffer(reply) ? unpacked(reply) : [reply];
  }

  next(): number {
    const value = this.#reply[this.#place];
    this.#place += 1;
    return Number.isSafeInteger(value) ? (value as number) : numberOf(value);
  }

  text(): string {
    const value = this.#reply[this.#place];
    this.#place += 1;
    return String(value);
  }

  /** Reads a length, then that many numbers. */
  list(): number[] {
    const size = this.next();
    return Array.from({ length: size }, () => this.next());
  }

  rest(): number[] {
    const numbers: number[] = [];
    while (this.#place < this.#reply.length) numbers.push(this.next());
    return numbers;
  }
}

const MOST = Number.MAX_SAFE_INTEGER;

/**
 * Clients can be set to return numbers as text, and their parsers round the largest number up.
 * @throws StoreConfigurationError unless it is an integer
 */
function numberOf(given: unknown): number {
  const value = typeof given === 'string' && /^-?\d+$/.test(given) ? Number(given) : given;
  if (!Number.isInteger(value) || Math.abs(value as number) > MOST + 1) {
    throw new StoreConfigurationError(
      `redis store: the script returned ${describe(value)} instead of an integer`,
    );
  }
  return Math.min(value as number, MOST);
}

/**
 * Reads a list of texts and whole numbers that `cmsgpack.pack` has packed; see the MessagePack specification.
 * @throws StoreConfigurationError if the bytes are anything else
 */
export function unpacked(bytes: Buffer): unknown[] {
  let place = 1;
  const whole = (size: number): number => {
    let value = 0;
    for (const end = place + size; place < end; place += 1) value = value * 256 + bytes[place]!;
    return value;
  };
  const first = bytes[0]!;
  const count = first === 0xdc ? whole(2) : first === 0xdd ? whole(4) : first & 0x0f;
  if (first >> 4 !== 0x9 && place === 1) throw foreign();
  const values: unknown[] = [];
  while (values.length < count && place < bytes.length) {
    const tag = bytes[place]!;
    place += 1;
    if (tag < 0x80) values.push(tag);
    else if (tag >= 0xe0) values.push(tag - 256);
    else if (tag >= 0xcc && tag <= 0xcf) values.push(whole(1 << (tag - 0xcc)));
    else if (tag >= 0xd0 && tag <= 0xd3) values.push(signed(1 << (tag - 0xd0)));
    else if (tag >> 5 === 0x5) values.push(text(tag & 0x1f));
    else if (tag >= 0xd9 && tag <= 0xdb) values.push(text(whole(1 << (tag - 0xd9))));
    else throw foreign();
  }
  if (values.length < count || place !== bytes.length) throw foreign();
  return values;

  /** Two's complement. In two halves, because 2^64 is beyond exact numbers. */
  function signed(size: number): number {
    const high = whole(Math.min(size, 4));
    const bits = 8 * Math.min(size, 4);
    const value = high >= 2 ** (bits - 1) ? high - 2 ** bits : high;
    return size === 8 ? value * 2 ** 32 + whole(4) : value;
  }

  function text(size: number): string {
    place += size;
    return bytes.toString('utf8', place - size, place);
  }
}

const foreign = () =>
  new StoreConfigurationError('redis store: the script returned bytes that are not one of its replies');
