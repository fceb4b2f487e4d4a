import { randomFrom } from '../../support/random.js';

const NUMBERS = {
  NaN: Number.NaN,
  '+inf': Number.POSITIVE_INFINITY,
  '-inf': Number.NEGATIVE_INFINITY,
  '-1': -1,
  '0': 0,
  '2.5': 2.5,
  '1e300': 1e300,
  '2^53 + 2': 2 ** 53 + 2,
  '2^53 - 1': 2 ** 53 - 1,
  '1e9': 1e9,
};

/** The value with each of its numbers replaced, cut off at each length, with extra bytes, and with flipped bits. */
export function* damages(raw: Buffer, seed: number): Generator<readonly [what: string, damaged: Buffer]> {
  // An envelope has a letter before its numbers, and the envelope of a shared rate has another one.
  const first = raw.length % 8;
  for (let at = first; at < raw.length; at += 8) {
    for (const [name, number] of Object.entries(NUMBERS)) {
      const damaged = Buffer.from(raw);
      damaged.writeDoubleBE(number, at);
      yield [`${name} at byte ${at}`, damaged];
    }
  }
  for (let size = 1; size < raw.length; size += 1) {
    yield [`cut to ${size} bytes`, raw.subarray(0, size)];
  }
  for (const more of [1, 8, 16, 24, 48, 240]) {
    yield [`${more} bytes longer`, Buffer.concat([raw, Buffer.alloc(more, raw)])];
    yield [`${more} zeros longer`, Buffer.concat([raw, Buffer.alloc(more)])];
  }
  const random = randomFrom(seed);
  for (let i = 0; i < 40; i += 1) {
    const bit = random(raw.length * 8);
    const damaged = Buffer.from(raw);
    damaged[bit >> 3]! ^= 1 << (bit & 7);
    yield [`bit ${bit} flipped`, damaged];
  }
}
