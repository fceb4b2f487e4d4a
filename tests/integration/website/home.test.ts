import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { heroRun, LENGTH } from '../../../website/home/hero.js';
import { sceneAt } from '../../../website/home/scene.js';
import type { Run } from '../../../website/playground/run.js';
import { blocksOf } from '../docs/markdown.js';

const root = resolve(__dirname, '../../..');
const GATES = 6;

let run: Run;
beforeAll(async () => {
  run = await heroRun();
});

const openingsAt = (at: number) => sceneAt(run, at, GATES).openings;
const dotAt = (key: number, at: number) => sceneAt(run, at, GATES).dots.find((dot) => dot.key === key);

test('the running limit shows each decision of core', () => {
  const shown = run.requests.map(({ at }, key) => dotAt(key, at)?.outcome);
  expect(shown).toEqual(run.requests.map(({ outcome }) => outcome));
  expect(new Set(shown)).toEqual(new Set(['passed', 'denied']));
});

test('a request passes through an open gate and closes it, or bounces off a closed one', () => {
  run.requests.forEach(({ at, outcome }, key) => {
    // Just before it is decided.
    const gate = Math.floor(((dotAt(key, at - 1)!.x - 40) / 320) * GATES);
    const opening = openingsAt(at - 1)[gate]!;
    expect({ at, opening: outcome === 'passed' ? opening : opening > 0.6 }).toEqual({
      at,
      opening: outcome === 'passed' ? 1 : false,
    });
    if (outcome === 'passed') expect(openingsAt(at + 230)[gate]).toBeLessThan(0.6);
  });
});

test('the running limit ends as it begins', () => {
  const open = { dots: [], ripples: [], openings: Array(GATES).fill(1) };
  expect(sceneAt(run, LENGTH, GATES)).toEqual(open);
  expect(sceneAt(undefined, 0, GATES)).toEqual(open);
});

test('the tabs of the home page have eight lines each, and differ in the store only', () => {
  const tabs = blocksOf(resolve(root, 'docs/index.md')).map(({ source }) => source.trimEnd().split('\n'));
  const others = tabs.map((lines) => lines.filter((_, i) => i !== 1 && i !== 3));
  expect(tabs.map((lines) => lines.length)).toEqual([8, 8, 8, 8]);
  expect(others).toEqual(Array(4).fill(others[0]));
  expect(tabs.map((lines) => /= (\w+)\(/.exec(lines[3]!)?.[1])).toEqual([
    'memoryStore',
    'sqliteStore',
    'postgresStore',
    'redisStore',
  ]);
});

test('the mark has one colour, and no text', () => {
  const mark = readFileSync(resolve(root, 'docs/pictures/mark.svg'), 'utf8');
  expect(mark.match(/#[0-9a-f]{3,8}\b/gi)).toHaveLength(1);
  expect(mark).not.toMatch(/<text|<style|<image/);
  expect(readFileSync(resolve(root, 'README.md'), 'utf8')).toContain('src="docs/pictures/mark.svg"');
});
