import { KeyResolutionError } from '../errors.js';
import { clientIp, compileClientKey } from './client-ip.js';

const ADDRESSES = [
  '192.0.2.1',
  '::ffff:192.0.2.1',
  '2001:db8:1:2::5',
  '[2001:db8:1:2::5]:443',
  '192.0.2.1:80',
];

test.each(ADDRESSES)('%s has the key of clientIp, also when it is cached', (address) => {
  for (const options of [{}, { ipv6Subnet: 48 }]) {
    const keyOf = compileClientKey(options);
    expect([keyOf({ ip: address }), keyOf({ ip: address })]).toEqual(
      Array(2).fill(clientIp(address, options)),
    );
  }
});

test('limits with different subnets have separate caches', () => {
  const [wide, narrow] = [compileClientKey({ ipv6Subnet: 32 }), compileClientKey({ ipv6Subnet: 128 })];
  expect([wide({ ip: '2001:db8::1' }), narrow({ ip: '2001:db8::1' })]).toEqual([
    '2001:db8::/32',
    '2001:db8::1/128',
  ]);
});

test('an address beyond the size of the cache still has its key', () => {
  const keyOf = compileClientKey({});
  for (let round = 0; round < 2; round += 1) {
    for (let i = 0; i < 2500; i += 1) {
      const group = i.toString(16);
      expect(keyOf({ ip: `2001:db8:0:${group}::1` })).toBe(clientIp(`2001:db8:0:${group}::9`));
    }
  }
});

test('an invalid address is rejected each time', () => {
  const keyOf = compileClientKey({});
  for (const address of [undefined, '', '127.1', '1:2', '1:2'])
    expect(() => keyOf({ ip: address })).toThrow(KeyResolutionError);
  expect(() => compileClientKey({ ipv6Subnet: 31 })).toThrow(RangeError);
});
