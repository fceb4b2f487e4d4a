import fc from 'fast-check';
import { runs } from '../../../../tests/support/runs.js';
import { KeyResolutionError } from '../errors.js';
import { compileKey } from './key-expression.js';

describe('malformed key templates', () => {
  it.each<[string, string]>([
    ['#{', 'position 2: the expression is not closed'],
    ['a#{}', 'position 3: a name is missing'],
    ['#{ }', 'a name is missing'],
    ['#<a', "not closed; add '>'"],
    ['#{a', "not closed; add '}'"],
    ['#{a>', 'expected \'}\', not ">"'],
    ['#{a b}', 'expected \'}\', not "b"'],
    ['#{a.}', 'a name is missing'],
    ['#{.a}', 'unexpected "."'],
    ['#{$}x#{', 'the expression is not closed'],
    ['#{a..b}', "'..' is not supported"],
    ['#{$..a}', "'..' is not supported"],
    ['#{a[..]}', 'unexpected'],
    ['#{a#{b}}', 'expressions do not nest'],
    ['#{#{b}}', 'expressions do not nest'],
    ['#{a.#<b>}', 'expressions do not nest'],
    ['#{a[]}', 'a name is missing'],
    ['#{a[0}', 'unexpected'],
    ["#{a['x}", 'unexpected'],
    ["#{a['']}", 'unexpected'],
    ['#{a[-1]}', 'the last item is [-1:]'],
    ['#{-a}', 'unexpected "-"'],
    ['#{*}', 'the first name must be'],
    ['#{[*]}', 'the first name must be'],
    ['#{a[*].$}', "after '*'"],
    ["#{a[*]['x;y']}", "after '*'"],
    ["#{a[*]['^']}", "after '*'"],
    ['#{a.*.*.*.*}', "at most 3 '*'"],
    [`#{${Array(17).fill('a').join('.')}}`, 'at most 16 steps'],
    ['', '1 to 1000 characters'],
    ['x'.repeat(1_001), '1 to 1000 characters'],
  ])('rejects %s', (template, problem) => {
    expect(() => compileKey(template)).toThrow(RangeError);
    expect(() => compileKey(template)).toThrow(problem);
  });

  // All requests would share one count. The error says how to write the key, or how to share one count on purpose.
  it.each([
    ['body.email', '#{body.email}'],
    [`\${body.email}`, '#{body.email}'],
    ['{body.email}', '#{body.email}'],
    ['{{ body.email }}', '#{body.email}'],
    ['#body.email', '#{body.email}'],
    ['# {body.email}', '#{body.email}'],
    ['#(body.email)', '#{body.email}'],
    [':email', '#{email}'],
    ['<user.id>', '#{user.id}'],
    ['$.user.id', '#{user.id}'],
    ['all', '#{all}'],
    ['0', '#{0}'],
    ["headers['x-user']", "#{headers['x-user']}"],
    ['login attempts', '#{user.id}'],
    ['#', '#{user.id}'],
    ['order:', '#{user.id}'],
  ])('rejects %s, which has no expression, and proposes %s', (template, proposed) => {
    const refusal = (call: () => unknown): string => {
      try {
        call();
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError);
        return (error as Error).message;
      }
      return 'nothing was thrown';
    };
    const message = refusal(() => compileKey(template));
    expect(message).toContain(`${JSON.stringify(template)} has no expression`);
    expect(message).toContain(`'${proposed}'`);
    expect(message).toContain("limitType 'METHOD'");
    expect(() => compileKey(proposed)).not.toThrow();
  });

  it.each([`\${body.email}:#{ip}`, `#{ip}:\${body.email}`, '#{ip} {{body.email}}'])(
    'rejects %s, where one expression is plain text',
    (template) => {
      expect(() => compileKey(template)).toThrow(RangeError);
      expect(() => compileKey(template)).toThrow(/is plain text here.*#\{/);
    },
  );

  it.each([undefined, null, 1, ['#{a}'], { source: '#{a}' }])('rejects %p with a TypeError', (template) => {
    expect(() => compileKey(template as unknown as string)).toThrow(TypeError);
  });

  it('accepts the longest path and the longest template', () => {
    expect(compileKey(`#{${Array(16).fill('a').join('.')}}`).roots).toEqual(['a']);
    expect(compileKey('#{a}'.repeat(250)).roots).toEqual(['a']);
  });

  it.each([
    '#{',
    '#<',
    '#{a',
    '#{a.',
    "#{a['",
    '#{a[',
    ' ',
    '#',
    '#{a}',
    '#{a[*]',
    '.',
    '[',
    "'",
    '\ud800',
    '0:',
  ])('rejects 10^5 characters of %p at once', (piece) => {
    expect(() => compileKey(piece.repeat(Math.ceil(100_000 / piece.length)))).toThrow('1 to 1000 characters');
    expect(() => compileKey(`#{${piece.repeat(498 / piece.length)}`)).toThrow(RangeError);
  });

  it('returns a template or throws a RangeError for any text', () => {
    const piece = fc.constantFrom(...'}>a.[]*0:-(?@$', "'", '#{', '#<', '..');
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 20 }), (parts) => {
        try {
          expect(typeof compileKey(parts.join('')).resolve(() => 'v')).toBe('string');
        } catch (error) {
          expect(error instanceof RangeError || error instanceof KeyResolutionError).toBe(true);
        }
      }),
      runs(3_000),
    );
  });
});
