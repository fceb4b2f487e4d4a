import fc from 'fast-check';
import { runs } from '../../../../tests/support/runs.js';
import { KeyResolutionError } from '../errors.js';
import { compileKey, type KeyScope } from './key-expression.js';

const cyclic: Record<string, unknown> = { id: 'c' };
cyclic.self = cyclic;
cyclic.list = [cyclic];

class Request {
  get ip(): string {
    return '1.2.3.4';
  }
  get(): string {
    return 'header';
  }
}

const values: Record<string, unknown> = {
  user: { id: 42, name: 'Ann', nested: { deep: ['a', 'b'] }, none: null, empty: '', list: [1, 2] },
  0: { phone: '139', 7: 'seven' },
  1: 'second',
  headers: { 'x-user-id': 'u1', 'a.b': 'dotted', "it's": 'quote', '}': 'brace' },
  手机: '138',
  items: [{ id: 'only' }],
  pair: [{ id: 'a' }, { id: 'b' }],
  words: ['abc'],
  matrix: [[1], []],
  req: new Request(),
  cyclic,
  big: 10n ** 20n,
  flag: true,
  zero: -0,
  nan: Number.NaN,
  query: { phone: ['a'] },
  symbol: Symbol('s'),
};
const scope: KeyScope = (root) => (Object.hasOwn(values, root) ? values[root] : undefined);
const resolve = (template: string): string => compileKey(template).resolve(scope);

describe('compileKey', () => {
  it.each([
    ['# #x a#{1}', '# #x asecond'],
    ['#{user.id}', '42'],
    ['#<user.id>', '42'],
    ['#{ user.id }', '42'],
    ['#{$.user.id}', '42'],
    ["#{$['user'].id}", '42'],
    ['sms:#{user.id}!', 'sms:42!'],
    ['##{user.id}', '#42'],
    ['#{1}', 'second'],
    ['#{[1]}', 'second'],
    ['#{0.phone}', '139'],
    ['#{0[7]}', 'seven'],
    ['#{0.7}', 'seven'],
    ['#{user.nested.deep[1]}', 'b'],
    ['#{user.nested.deep.1}', 'b'],
    ['#{user.list.length}', '2'],
    ['#{headers.x-user-id}', 'u1'],
    ["#{headers['x-user-id']}", 'u1'],
    ['#{headers["a.b"]}', 'dotted'],
    ['#{headers["it\'s"]}', 'quote'],
    ["#{headers['}']}", 'brace'],
    ['#{手机}', '138'],
    ['#{req.ip}', '1.2.3.4'],
    ['#{big}', '100000000000000000000'],
    ['#{flag}', 'true'],
    ['#{zero}', '0'],
    ['#{cyclic.self.self.id}', 'c'],
    ['#{items[*].id}', 'only'],
    ['#{items.*.id}', 'only'],
    ['#{pair[-1:].id}', 'b'],
    ['#{pair[0:1].id}', 'a'],
    ['#{pair[::2].id}', 'a'],
    ['#{matrix[*][*]}', '1'],
    ['#{cyclic.list[*].id}', 'c'],
    ['order:#{user.id}:#{0.phone}', 'order:42:139'],
    ['#{user.id}#<1>', '42:second'],
    ['#{user.id}-#{1}.', '42-:second.'],
    ['#{user.id}/#{1}', '42/second'],
  ])('%s resolves to %s', (template, key) => {
    expect(resolve(template)).toBe(key);
  });

  it.each([
    ['order:#{user.id}:#{0.phone}:#<user.name>', ['user', '0']],
    ['#{$.user.id}', ['user']],
    ['#{items[*].id}', ['items']],
  ])('%s has the roots %p', (template, roots) => {
    expect(compileKey(template)).toMatchObject({ source: template, roots });
  });

  it.each([
    ['#{nobody.id}', 'is missing (undefined)'],
    ['#{user.age}', 'is missing (undefined)'],
    ['#{user.none}', 'is null'],
    ['#{user.none.id}', 'is missing (undefined)'],
    ['#{user.empty}', 'is an empty string'],
    ['#{user}', 'is an object'],
    ['#{query.phone}', 'is an array'],
    ['#{nan}', 'is NaN'],
    ['#{symbol}', 'is a symbol'],
    ['#{cyclic.self}', 'is an object'],
    ['#{req.get}', 'is missing (undefined)'],
    ['#{1.length}', 'is missing (undefined)'],
    ['#{user.__proto__}', 'is missing (undefined)'],
    ['#{user.constructor.name}', 'is missing (undefined)'],
    ["#{user['constructor']['constructor']}", 'is missing (undefined)'],
    ['#{__proto__.x}', 'is missing (undefined)'],
    ['#{toString}', 'is missing (undefined)'],
    ['#{pair[*].id}', 'finds 2 values; it must find exactly one'],
    ['#{pair[*].name}', 'is missing (undefined)'],
    ['#{pair[5:].id}', 'is missing (undefined)'],
    ['#{nobody[*].id}', 'is missing (undefined)'],
    ['#{1[*]}', 'is missing (undefined)'],
    ['#{words[*].length}', 'is missing (undefined)'],
    ['#{items[*]}', 'is an object'],
    ['#{items[*].__proto__}', 'is missing (undefined)'],
    ['#{items[*].constructor}', 'is missing (undefined)'],
  ])('%s: the value %s', (template, problem) => {
    expect(() => resolve(`k:${template}`)).toThrow(KeyResolutionError);
    expect(() => resolve(`k:${template}`)).toThrow(problem);
    expect(() => resolve(`k:${template}`)).toThrow(expect.objectContaining({ expression: template }));
    expect(() => resolve(`k:${template}`)).toThrow(
      `${template} in the key template ${JSON.stringify(`k:${template}`)}`,
    );
  });
});

describe('different values never make the same key', () => {
  it.each([
    ['#{a}#{b}', ['a', 'b:c'], ['a:b', 'c']],
    ['#{a}#{b}', ['a', 'bc'], ['ab', 'c']],
    ['#{a}_#{b}', ['a', 'b_c'], ['a_b', 'c']],
    ['#{a}~#{b}', ['a', '~b'], ['a~', 'b']],
    ['#{a}:#{b}', ['a~3A', 'b'], ['a:', 'b']],
    ['#{a} #{b}', ['a b', 'c'], ['a', 'b c']],
  ])('%s of %p and %p', (template, one, two) => {
    const { resolve: key } = compileKey(template);
    const keyOf = (pair: string[]): string => key((root) => pair[root === 'a' ? 0 : 1]);
    expect(keyOf(one)).not.toBe(keyOf(two));
  });

  it('holds for any values and any texts around them', () => {
    const tricky = fc.constantFrom('a', 'b', ':', '/', '~', '~3A', ' ', '%', '\ud800', '\udc00', '-');
    const text = fc.array(tricky, { maxLength: 4 }).map((parts) => parts.join(''));
    const value = fc.array(tricky, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(''));
    const three = fc.tuple(value, value, value);
    fc.assert(
      fc.property(fc.tuple(text, text, text, text), three, three, ([w, x, y, z], one, two) => {
        const { resolve: key } = compileKey(`${w}#{0}${x}#{1}${y}#<2>${z}`);
        const [first, second] = [one, two].map((parts) => key((root) => parts[Number(root)]));
        expect(first === second).toBe(one.join('\n') === two.join('\n'));
      }),
      runs(5_000),
    );
  });
});
