import { isIPv4, isIPv6 } from 'node:net';
import fc from 'fast-check';
import { runs } from '../../../../tests/support/runs.js';
import { KeyResolutionError } from '../errors.js';
import { clientIp } from './client-ip.js';

describe('clientIp', () => {
  it.each([
    ['1.2.3.4', '1.2.3.4'],
    ['0.0.0.0', '0.0.0.0'],
    ['255.255.255.255', '255.255.255.255'],
    ['1.2.3.4:5678', '1.2.3.4'],
    ['::ffff:1.2.3.4', '1.2.3.4'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    ['::ffff:102:304', '1.2.3.4'],
    ['0:0:0:0:0:ffff:0102:0304', '1.2.3.4'],
    ['[::ffff:1.2.3.4]:80', '1.2.3.4'],
    ['::ffff:1.2.3.4%eth0', '1.2.3.4'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::ffff', '2001:db8:1:2::/64'],
    ['[2001:db8::1]:443', '2001:db8::/64'],
    ['[2001:db8::1]', '2001:db8::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    ['fe80::1%en-0.100', 'fe80::/64'],
    ['[fe80::1%25eth0]:80', 'fe80::/64'],
    ['::1', '::/64'],
    ['::', '::/64'],
    // The same bits as ::102:304: the old IPv4-compatible form is not the client 1.2.3.4.
    ['::1.2.3.4', '::/64'],
    ['::102:304', '::/64'],
    ['64:ff9b::1.2.3.4', '64:ff9b::/64'],
    ['2002:102:304::1', '2002:102:304::/64'],
  ])('%s is %s', (address, key) => {
    expect(clientIp(address)).toBe(key);
  });

  it.each([
    [32, '2001:db8::/32'],
    [48, '2001:db8:1::/48'],
    [56, '2001:db8:1:ff00::/56'],
    [64, '2001:db8:1:ffff::/64'],
    [127, '2001:db8:1:ffff::fffe/127'],
    [128, '2001:db8:1:ffff::ffff/128'],
  ])('masks to /%d', (ipv6Subnet, key) => {
    expect(clientIp('2001:db8:1:ffff::ffff', { ipv6Subnet })).toBe(key);
    expect(clientIp('1.2.3.4', { ipv6Subnet })).toBe('1.2.3.4');
  });

  it.each([31, 129, 0, -1, 64.5, Number.NaN, Number.POSITIVE_INFINITY, '64', null])(
    'rejects ipv6Subnet %p',
    (value) => {
      expect(() => clientIp('1.2.3.4', { ipv6Subnet: value as number })).toThrow(RangeError);
    },
  );

  it.each([
    undefined,
    '',
    'unknown',
    'localhost',
    '_hidden',
    '127.1',
    '1.2.3',
    '2130706433',
    '0x7f000001',
    '0x7f.0.0.1',
    '0177.0.0.1',
    '01.2.3.4',
    '256.1.1.1',
    '1.2.3.4.5',
    '1.2.3.4:',
    '1.2.3.4:port',
    '1.2.3.4:123456',
    '1.2.3.4%eth0',
    '1.2.3.4/8',
    ' 1.2.3.4',
    '1.2.3.4\n',
    '1.2.3.4, 5.6.7.8',
    '[1.2.3.4]:80',
    '[]:80',
    '[::1',
    '::1]',
    '[::1]x',
    '::1%',
    '%eth0',
    ':::',
    '1::2::3',
    '12345::',
    '::g',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    '1:2:3:4:5:6:7:8:',
    '2001:db8::/32',
    '::ffff:1.2.3',
    '::ffff:256.2.3.4',
    '::ffff:01.2.3.4',
    '::ffff:0x1.2.3.4',
    '::ffff:1.2.3.4:80',
    ':'.repeat(100_000),
    '1'.repeat(100_000),
    `fe80::1%${'a'.repeat(100_000)}`,
    null,
    42,
    ['1.2.3.4'],
    { ip: '1.2.3.4' },
  ])('rejects %p', (address) => {
    expect(() => clientIp(address as string)).toThrow(KeyResolutionError);
  });

  it('the error names the problem in at most 250 characters', () => {
    expect(() => clientIp('unknown')).toThrow('not an IPv4 or IPv6 address: "unknown"');
    expect(() => clientIp(undefined)).toThrow(/^There is no client address.*limit\(request, \{ ip \}\)$/);
    expect(() => clientIp('x'.repeat(100_000))).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{1,250}$/) }),
    );
  });

  it('accepts the addresses that Node accepts', () => {
    const nearly = fc
      .array(fc.constantFrom(':', '::', '0', '1', 'ffff', 'ab', '.', '1.2.3.4', '255', 'g', '12345'), {
        maxLength: 17,
      })
      .map((parts) => parts.join(''));
    const address = fc.oneof(nearly, fc.ipV6(), fc.ipV4());
    fc.assert(
      fc.property(address, (text) => {
        const valid = isIPv4(text) || isIPv6(text);
        if (valid) expect(clientIp(text)).toMatch(/^[\d.]+$|^[0-9a-f:]+\/64$/);
        // Node rejects a port and brackets; only those may pass here.
        else if (!/^[\d.]+:\d+$/.test(text)) expect(() => clientIp(text)).toThrow(KeyResolutionError);
      }),
      runs(5_000),
    );
  });

  it('every spelling of one IPv6 address yields one key', () => {
    const groups = fc.array(fc.oneof(fc.constant(0), fc.nat(0xffff)), { minLength: 8, maxLength: 8 });
    fc.assert(
      fc.property(groups, (parts) => {
        const full = parts.map((part) => part.toString(16).padStart(4, '0')).join(':');
        const short = new URL(`http://[${full}]/`).hostname;
        const quad = parts.slice(6).flatMap((part) => [part >> 8, part & 255]);
        const mixed = `${parts
          .slice(0, 6)
          .map((part) => part.toString(16))
          .join(':')}:${quad.join('.')}`;
        const keys = [full, full.toUpperCase(), short, mixed, `${mixed}%lo`].map((text) => clientIp(text));
        expect(new Set(keys).size).toBe(1);
        // the key is itself a canonical address
        const host = keys[0]?.replace('/64', '') ?? '';
        if (host.includes(':')) expect(new URL(`http://[${host}]/`).hostname).toBe(`[${host}]`);
      }),
      runs(2_000),
    );
  });
});
