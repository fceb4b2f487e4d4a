import { compileList } from './address-list.js';

const where = 'rateLimit: allowList';

test.each<[string, string, boolean]>([
  ['192.0.2.7', '192.0.2.7', true],
  ['192.0.2.7', '192.0.2.8', false],
  ['192.0.2.7', '::ffff:192.0.2.7', true],
  ['192.0.2.7', '::ffff:c000:207', true],
  ['192.0.2.7', '192.0.2.7:5678', true],
  ['192.0.2.7', '::192.0.2.7', false],
  ['::ffff:192.0.2.7', '192.0.2.7', true],
  ['10.0.0.0/8', '10.255.255.255', true],
  ['10.0.0.0/8', '11.0.0.0', false],
  ['10.1.2.3/8', '10.9.9.9', true],
  ['10.0.0.0/8', '::ffff:10.1.1.1', true],
  ['::ffff:10.0.0.0/104', '10.1.1.1', true],
  ['::ffff:10.0.0.0/104', '11.1.1.1', false],
  ['10.0.0.0/31', '10.0.0.1', true],
  ['10.0.0.0/31', '10.0.0.2', false],
  ['10.0.0.0/32', '10.0.0.0', true],
  ['10.0.0.0/32', '10.0.0.1', false],
  ['0.0.0.0/0', '203.0.113.9', true],
  ['0.0.0.0/0', '2001:db8::1', false],
  ['::/0', '2001:db8::1', true],
  ['2001:db8::/32', '2001:db8:ffff::1', true],
  ['2001:db8::/32', '2001:db9::1', false],
  ['2001:db8::/33', '2001:db8:8000::1', false],
  ['2001:DB8:0:0::1', '2001:db8::1', true],
  ['2001:db8::1/128', '[2001:db8::1]:443', true],
  ['fe80::1', 'fe80::1%eth0', true],
  ['fe80::1%eth0', 'fe80::1%eth1', true],
  ['::/0', 'not an address', false],
  ['0.0.0.0/0', '127.1', false],
  ['0.0.0.0/0', '', false],
])('the list of %s matches the client %s: %s', (entry, ip, listed) => {
  expect(compileList(where, [entry])(ip, [])).toBe(listed);
});

test.each<[string, string | number | bigint | boolean, boolean]>([
  ['ann', 'ann', true],
  ['ann', 'Ann', false],
  ['7', 7, true],
  ['7', 7n, true],
  ['true', true, true],
  ['__proto__', 'ann', false],
  ['__proto__', '__proto__', true],
  ['aa:bb:cc:dd:ee:ff', 'aa:bb:cc:dd:ee:ff', true],
  ['order:7', 'order:7', true],
  ['192.0.2.7:login', '192.0.2.7:login', true],
  ['192.0.2.7', '192.0.2.7', false],
])('the entry %s matches the key %p: %s', (entry, key, listed) => {
  expect(compileList(where, [entry])(undefined, ['other', key])).toBe(listed);
});

test('a list matches if any entry does, and an empty list never does', () => {
  const list = compileList(where, ['ann', '10.0.0.0/8', '2001:db8::/32']);
  expect(list('10.1.1.1', [])).toBe(true);
  expect(list('2001:db8::1', [])).toBe(true);
  expect(list('192.0.2.7', ['ann'])).toBe(true);
  expect(list('192.0.2.7', ['bob'])).toBe(false);
  expect(list(undefined, [])).toBe(false);
  expect(compileList(where, [])('10.1.1.1', ['ann'])).toBe(false);
});

test.each([
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/08',
  '10.0.0.0/-1',
  '10.0.0.0/8.0',
  '10.0.0.1/8/2',
  '10/8',
  '10.0.0/8',
  '1.2.3',
  '1.2.3.4.5',
  '300.1.1.1',
  '010.0.0.1',
  '10.0.*.*',
  '10.0.0.1-10.0.0.9',
  '192.0.2.7:80',
  ' 192.0.2.7',
  '10.0.0.0/255.0.0.0',
  '2001:db8::/129',
  '2001:db8/32',
  '2001:db8:::1',
  '2001:db8:1:2:3:4:5',
  '2001:db8::g',
  '[2001:db8::1]',
  '[2001:db8::1]:443',
  '::ffff:10.0.0.0/8',
  '::ffff:300.0.0.1',
])('%j is rejected as a misspelt address or range', (entry) => {
  expect(() => compileList(where, ['ann', entry])).toThrow(
    new TypeError(
      `rateLimit: allowList: ${JSON.stringify(entry)} is not an address or a range; write them as 192.0.2.7, 10.0.0.0/8, ` +
        '2001:db8::1 or 2001:db8::/32, without a port. To list a key that looks like one, pass a function',
    ),
  );
});

test.each<[unknown, RegExp]>([
  ['10.0.0.0/8', /rateLimit: allowList must be an array of strings or a function, not "10.0.0.0\/8"/],
  [null, /must be an array .* not null/],
  [{}, /must be an array .* not an object/],
  [[7], /an entry must be a non-empty string, not 7/],
  [[''], /an entry must be a non-empty string, not ""/],
  [['ann', undefined], /not undefined/],
])('rejects the entries %j', (entries, message) => {
  expect(() => compileList(where, entries as string[])).toThrow(message);
});
