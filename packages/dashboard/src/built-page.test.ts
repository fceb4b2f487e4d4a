import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CSS, HTML, JS } from './page.script.js';

test('the committed page is as new as its sources', () => {
  const script = join(__dirname, '../../../scripts/page.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test('it ships with the licences of the packages that are built into it', () => {
  const read = (path: string) => readFileSync(join(__dirname, '..', path), 'utf8');
  const notices = read('THIRD-PARTY-NOTICES.txt');
  const installed = JSON.parse(read('page/package-lock.json')).packages;
  for (const [name, holder] of [
    ['preact', 'Jason Miller'],
    ['uplot', 'Leon Sorokin'],
  ]) {
    expect(notices).toContain(`\n${name} ${installed[`node_modules/${name}`].version}\n\nThe MIT License`);
    expect(notices).toMatch(new RegExp(`Copyright \\(c\\) .*${holder}`));
  }
  expect(JSON.parse(read('package.json')).files).toContain('THIRD-PARTY-NOTICES.txt');
});

test('it is small, and loads nothing but itself', () => {
  expect(Buffer.byteLength(HTML + JS + CSS)).toBeLessThan(150_000);
  const loaded = [...HTML.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, target]) => target);
  expect(loaded.sort()).toEqual(['./page.css', './page.js']);
  expect(CSS).not.toMatch(/url\((?!data:)|@import/);
});
