import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { CSS, HTML, JS } from './page.script.js';

test('the committed page is as new as its sources', () => {
  const script = join(__dirname, '../../../scripts/page.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test('it is small, and loads nothing but itself', () => {
  expect(Buffer.byteLength(HTML + JS + CSS)).toBeLessThan(150_000);
  const loaded = [...HTML.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, target]) => target);
  expect(loaded.sort()).toEqual(['./page.css', './page.js']);
  expect(CSS).not.toMatch(/url\((?!data:)|@import/);
});
