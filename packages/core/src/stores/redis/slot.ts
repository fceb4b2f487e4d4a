import { charCodeAt } from '../../keys/redis-key.js';

/** CRC-16/XMODEM, by the byte that comes in: what Redis Cluster takes of a key to choose its slot. */
const CRC = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/** The hash slot of a key, 0 to 16383: by its hash tag, which stands in the first braces unless these are empty; else by all of it. */
export function slotOf(key: string): number {
  const open = key.indexOf('{');
  const close = open < 0 ? -1 : key.indexOf('}', open + 1);
  return close > open + 1 ? crcOf(key, open + 1, close) : crcOf(key, 0, key.length);
}

function crcOf(key: string, from: number, to: number): number {
  let crc = 0;
  for (let at = from; at < to; at += 1) {
    const code = charCodeAt(key, at);
    if (code > 0x7f) return crcOfBytes(Buffer.from(key.slice(from, to)));
    crc = step(crc, code);
  }
  return crc & 0x3fff;
}

function crcOfBytes(bytes: Uint8Array): number {
  let crc = 0;
  for (const byte of bytes) crc = step(crc, byte);
  return crc & 0x3fff;
}

const step = (crc: number, byte: number): number => ((crc << 8) ^ CRC[(crc >> 8) ^ byte]!) & 0xffff;
