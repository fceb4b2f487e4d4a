import { isRulesError, parseRules } from '../index.js';

const MB = 1_000_000;
const times = (text: string) => text.repeat(Math.floor(MB / text.length));
const counted = (each: (i: number) => string) =>
  Array.from({ length: MB / 20 }, (_, i) => each(i))
    .join('')
    .slice(0, MB);

/** Each is a megabyte. Without bounds, some take seconds and a gigabyte, and a map of 100,000 keys takes minutes. */
const texts: Readonly<Record<string, string>> = {
  'opened lists': times('['),
  'opened maps': times('{'),
  'nested items': times('- '),
  'nested keys': times('? '),
  'empty keys': times(': '),
  anchors: times('&a '),
  aliases: times('*a '),
  tags: times('! '),
  quotes: times('"'),
  'empty lines': times('\n'),
  comments: times('#\n'),
  documents: times('---\n'),
  'many keys': counted((i) => `k${i}: 1\n`),
  'many keys in a line': `{${counted((i) => `k${i}: 1,`)}`.slice(0, MB),
  'many items': times('- 1\n'),
  'a plain text of many lines': times('a\n'),
  'backslashes in quotes': `"${'\\'.repeat(MB - 2)}"`,
  'anchors of their own': counted((i) => `- &a${i} 1\n`),
  zeros: times('\0'),
};

test.each(Object.entries(texts))('a megabyte of %s is refused with a line', (_, text) => {
  let found: unknown;
  try {
    parseRules(text);
  } catch (error) {
    found = error;
  }
  expect(isRulesError(found) && found.problems[0]).toMatchObject({ line: expect.any(Number) });
});
