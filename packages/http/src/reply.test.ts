import fc from 'fast-check';
import { anyText } from '../../../tests/support/any-text.js';
import type { HttpProblem } from './problem.js';
import { replyTo, writeVary } from './reply.js';

const problem = {
  type: 'about:blank',
  title: 'Too Many Requests',
  status: 429,
  detail: 'Try again in 2 s.',
  'violated-policies': ['login'],
};
const PROBLEM = 'application/problem+json';
const CHROME =
  'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,application/signed-exchange;v=b3;q=0.7';

test.each<[string, string | undefined, string]>([
  ['no Accept', undefined, PROBLEM],
  ['curl and fetch', '*/*', PROBLEM],
  ['a client that accepts problems', 'application/problem+json, application/json;q=0.9', PROBLEM],
  ['any application', 'application/*', PROBLEM],
  ['axios', 'application/json, text/plain, */*', 'application/json'],
  ['a client that accepts JSON only', 'application/json', 'application/json'],
  ['Chrome', CHROME, 'text/html; charset=utf-8'],
  ['Firefox', 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', 'text/html; charset=utf-8'],
  ['a client that accepts text', 'text/plain', 'text/plain; charset=utf-8'],
  ['a client that prefers text', 'text/html;q=0.5, text/plain', 'text/plain; charset=utf-8'],
  ['capitals', 'TEXT/Plain', 'text/plain; charset=utf-8'],
  ['images only', 'image/png', PROBLEM],
  ['no type at all', '*/*;q=0', PROBLEM],
  ['an empty Accept', '', PROBLEM],
  ['an invalid Accept', ';;;,,,/', PROBLEM],
  ['a long Accept', `text/html,${' '.repeat(10_000)}`, PROBLEM],
])('for %s, the response has the right type', (_name, accept, type) => {
  const reply = replyTo(problem, accept);
  expect(reply).toMatchObject({ status: 429, type });
  if (type.endsWith('json')) expect(JSON.parse(reply.body)).toEqual(problem);
  else expect(reply.body).toContain('Try again in 2 s.');
});

test('a text response is the title and the detail', () => {
  expect(replyTo(problem, 'text/plain').body).toBe('Too Many Requests\nTry again in 2 s.\n');
});

test('a page escapes the problem', () => {
  const hostile: HttpProblem = {
    ...problem,
    title: `</title><b>&amp;'"`,
    detail: '<script>alert(1)</script>',
  };
  const { body } = replyTo(hostile, 'text/html');
  expect(body).toContain('<h1>&lt;/title&gt;&lt;b&gt;&amp;amp;&#39;&quot;</h1>');
  expect(body).toContain('<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>');
});

test.each<[string | object, string, string]>([
  ['Slow down', 'text/plain; charset=utf-8', 'Slow down'],
  ['', 'text/plain; charset=utf-8', ''],
  [{ error: 'slow down' }, 'application/json', '{"error":"slow down"}'],
  [['slow', 'down'], 'application/json', '["slow","down"]'],
  [{ toJSON: () => undefined }, 'application/json', 'null'],
])('the message %j takes precedence over Accept', (message, type, body) => {
  expect(replyTo(problem, 'text/html', message)).toEqual({ status: 429, type, body });
});

test('a message that cannot be serialized throws', () => {
  const circle: { itself?: object } = {};
  circle.itself = circle;
  expect(() => replyTo(problem, undefined, circle)).toThrow(TypeError);
});

test('replyTo handles any Accept', () => {
  const parts = fc.constantFrom(
    'text/html',
    '*/*',
    ';',
    ',',
    'q=',
    '"',
    '\\',
    '/',
    '=',
    ' ',
    '0.5',
    'application/json',
    '*',
  );
  const accepts = fc.oneof(
    anyText({ maxLength: 2000 }),
    fc.array(parts).map((all) => all.join('')),
  );
  const types = [PROBLEM, 'application/json', 'text/html; charset=utf-8', 'text/plain; charset=utf-8'];
  fc.assert(fc.property(accepts, (accept) => expect(types).toContain(replyTo(problem, accept).type)));
});

test.each<[unknown, string]>([
  [undefined, 'Accept'],
  ['', 'Accept'],
  ['Origin', 'Origin, Accept'],
  [['Origin', 'Cookie'], 'Origin, Cookie, Accept'],
  ['Origin, accept', 'Origin, accept'],
  ['*', '*'],
  ['Accept-Encoding', 'Accept-Encoding, Accept'],
])('a problem extends a Vary of %j', (before, after) => {
  const headers = new Map<string, unknown>([['Vary', before]]);
  const response = {
    get: (name: string) => headers.get(name),
    set: (name: string, value: string) => void headers.set(name, value),
  };
  writeVary(replyTo(problem, 'text/html'), response);
  expect(headers.get('Vary')).toBe(after);
  headers.set('Vary', before);
  writeVary(replyTo(problem, 'text/html', 'a text of yours'), response);
  expect(headers.get('Vary')).toBe(before);
});
