import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CSS, HTML, JS } from './page.script.js';

test('the committed page is built from the present sources', () => {
  const script = join(__dirname, '../../../scripts/page.mjs');
  const { status, stderr } = spawnSync(process.execPath, [script, '--check'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, '']);
});

test('the package ships the licences of the packages built into the page', () => {
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

test('the page is below 150 kB and loads only its own files', () => {
  expect(Buffer.byteLength(HTML + JS + CSS)).toBeLessThan(150_000);
  const loaded = [...HTML.matchAll(/(?:src|href)="(?!data:)([^"]+)"/g)].map(([, target]) => target);
  expect(loaded.sort()).toEqual(['./page.css', './page.js']);
  expect(CSS).not.toMatch(/url\((?!data:)|@import/);
});
