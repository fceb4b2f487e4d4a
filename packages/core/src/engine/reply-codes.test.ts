import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as codes from './reply-codes.js';

test('decide.lua and the store use the same reply codes', () => {
  const lua = readFileSync(join(__dirname, 'decide.lua'), 'utf8');
  const pairs = [...lua.matchAll(/^local ([A-Z_]+) = (-\d+)$/gm)].map(([, name, code]) => [
    name,
    Number(code),
  ]);
  expect(Object.fromEntries(pairs)).toEqual({ ...codes });
});
