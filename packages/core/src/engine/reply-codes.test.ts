import { decideScript } from './decide.script.js';
import * as codes from './reply-codes.js';

test('decide.lua and the store use the same reply codes', () => {
  const pairs = [...decideScript.source.matchAll(/^local ([A-Z_]+) = (-\d+)$/gm)].map(([, name, code]) => [
    name,
    Number(code),
  ]);
  expect(Object.fromEntries(pairs)).toMatchObject({ ...codes });
});
