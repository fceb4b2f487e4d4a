import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';

/** No service encodes a body more often. */
const MOST_CODINGS = 3;

type Decode = (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Uint8Array;

/** Some services send `deflate` without the header of zlib, as browsers accept it. */
const inflate: Decode = (bytes, options) =>
  (bytes[0]! & 0x0f) === 8 ? inflateSync(bytes, options) : inflateRawSync(bytes, options);

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: gunzipSync,
  'x-gzip': gunzipSync,
  deflate: inflate,
  br: brotliDecompressSync,
  identity: (bytes) => bytes,
};

/**
 * The text of a body that undici passes on as it was sent: fetch accepts gzip, and decodes it only afterwards.
 * @param coding its `content-encoding`
 * @returns '' if it is broken, encoded in another way, or longer than `most` bytes: decoding ends there
 */
export function decoded(bytes: Uint8Array, coding: string, most: number): string {
  const codings = coding.toLowerCase().split(',', MOST_CODINGS + 1);
  if (codings.length > MOST_CODINGS) return '';
  let plain = bytes;
  try {
    for (const one of codings.reverse()) {
      const name = one.trim();
      if (name === '') continue;
      if (!Object.hasOwn(DECODERS, name)) return '';
      plain = DECODERS[name]!(plain, { maxOutputLength: most });
    }
  } catch {
    return ''; // the status and the headers still count
  }
  return new TextDecoder().decode(plain);
}
