import { slotOf } from './cluster.js';

// The results of CLUSTER KEYSLOT; tests/integration/cluster/nodes.test.ts compares many more with a server.
test.each([
  ['', 0],
  ['123456789', 0x31c3], // the check value of CRC-16/XMODEM
  ['foo', 12_182],
  ['{foo}bar', 12_182],
  ['a{foo}{bar}', 12_182],
  ['a}{foo}', 12_182],
  ['{{foo}}', 13_308],
  ['foo{}{bar}', 8_363],
  ['{foo', 13_308],
  ['ключ', 10_303],
])('%j is in slot %i', (key, slot) => {
  expect(slotOf(key)).toBe(slot);
});
