import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION } from './runtime.js';

test('VERSION equals the version in package.json', () => {
  const { version } = JSON.parse(readFileSync(join(__dirname, '../package.json'), 'utf8'));
  expect(VERSION).toBe(version);
});
