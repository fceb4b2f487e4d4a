import { StoreConfigurationError } from '../../errors.js';

/**
 * Reads what `cmsgpack.pack` makes of a list of texts and of whole numbers from -32 on; see the MessagePack specification.
 * @throws StoreConfigurationError when the bytes are something else
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
    else if (tag >> 5 === 0x5) values.push(text(tag & 0x1f));
    else if (tag >= 0xd9 && tag <= 0xdb) values.push(text(whole(1 << (tag - 0xd9))));
    else throw foreign();
  }
  if (values.length < count || place !== bytes.length) throw foreign();
  return values;

  function text(size: number): string {
    place += size;
    return bytes.toString('utf8', place - size, place);
  }
}

const foreign = () =>
  new StoreConfigurationError('redis store: the script answered bytes that are no list of its own');
