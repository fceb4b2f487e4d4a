import { LimitType, parseLimitType } from './key-list.js';

describe('parseLimitType', () => {
  it.each(Object.values(LimitType))('accepts %s', (type) => {
    expect(parseLimitType(type)).toBe(type);
  });

  it.each([
    'ip',
    'Ip ',
    '',
    'toString',
    '__proto__',
    'constructor',
    undefined,
    null,
    0,
    ['IP'],
    { IP: 'IP' },
  ])('rejects %p and names the accepted types', (value) => {
    expect(() => parseLimitType(value)).toThrow(RangeError);
    expect(() => parseLimitType(value)).toThrow(/IP, USER, METHOD, CUSTOM/);
  });

  it('the error names the rejected value', () => {
    expect(() => parseLimitType('ADDRESS')).toThrow('not "ADDRESS"');
  });
});
