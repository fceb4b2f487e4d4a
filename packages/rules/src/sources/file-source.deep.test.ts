import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RulesMessage, subscribe } from '@sluice/core';
import { eventually } from '../../../../tests/support/eventually.js';
import { rejection } from '../../../../tests/support/rejection.js';
import { isRulesError, isRulesSourceError, type LoadedRules, loadRules } from '../index.js';

const text = (limit: number, version = `v${limit}`): string =>
  `version: ${version}\nrules:\n  - { name: api, match: { path: /* }, limit: { fixedWindow: { limit: ${limit}, window: 1h } } }\n`;

let folder: string;
let rules: LoadedRules | undefined;
const messages: RulesMessage[] = [];
let stop: () => void;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rules-'));
  messages.length = 0;
  stop = subscribe('sluice:rules', (message) => void messages.push(message));
});
afterEach(async () => {
  stop();
  await rules?.close();
  rules = undefined;
  await rm(folder, { recursive: true });
});

const reported = () => messages.map(({ result, version }) => `${result} ${version}`);
/** In one step, so that no poll reads half of the text, however long the writer stands still. */
async function replaceFile(file: string, content: string): Promise<void> {
  await writeFile(`${file}.next`, content);
  await rename(`${file}.next`, file);
}
const versionIs = (version: string) => eventually(async () => rules!.version === version);

describe('a rules file', () => {
  /** No poll runs during the test, so only the watcher can see a change. */
  const every = '1h';

  test('loads when it is written or renamed over, keeping counts and unchanged limiters', async () => {
    const file = join(folder, 'limits.yaml');
    await writeFile(file, text(2));
    rules = await loadRules(file, { every });
    await rules.limiter('api').consume('ann');
    const limiter = rules.limiter('api');
    await writeFile(file, text(5));
    await versionIs('v5');
    expect(rules.limiter('api')).not.toBe(limiter);
    expect((await rules.limiter('api').consume('ann')).remaining).toBe(3);
    await writeFile(join(folder, 'next'), text(2, 'again'));
    await rename(join(folder, 'next'), file);
    await versionIs('again');
    expect(rules.limiter('api')).toBe(limiter);
    expect(reported()).toEqual(['loaded v2', 'loaded v5', 'loaded again']);
  });

  test('loads when the symbolic links of a ConfigMap change', async () => {
    for (const version of [1, 2]) {
      await mkdir(join(folder, `..${version}`));
      await writeFile(join(folder, `..${version}`, 'limits.yaml'), text(version));
    }
    await symlink('..1', join(folder, '..data'));
    await symlink('..data/limits.yaml', join(folder, 'limits.yaml'));
    rules = await loadRules(join(folder, 'limits.yaml'), { every });
    expect(rules.version).toBe('v1');
    await symlink('..2', join(folder, '..next'));
    await rename(join(folder, '..next'), join(folder, '..data'));
    await versionIs('v2');
  });

  test('loads by polling if its watcher cannot see the change', async () => {
    const [file, elsewhere] = [join(folder, 'limits.yaml'), join(folder, 'elsewhere')];
    await mkdir(elsewhere);
    await writeFile(join(elsewhere, 'real.yaml'), text(1));
    await symlink('elsewhere/real.yaml', file);
    rules = await loadRules(file, { every: '100ms' });
    await writeFile(join(elsewhere, 'real.yaml'), text(2));
    await versionIs('v2');
  });

  test('does not load while it is being written', async () => {
    const file = join(folder, 'limits.yaml');
    const whole = `${text(2)}${'# a comment\n'.repeat(20)}  - { name: sms, limit: { gcra: { limit: 1, period: 1m } } }\n`;
    let longest: number;
    // A writer that pauses for longer than the quiet time proves nothing: then the test begins again.
    do {
      await rules?.close();
      messages.length = 0;
      await writeFile(file, text(1));
      rules = await loadRules(file, { every });
      longest = 0;
      for (let length = 100; length < whole.length + 40; length += 40) {
        const begin = performance.now();
        await writeFile(file, whole.slice(0, length));
        await new Promise((resolve) => setTimeout(resolve, 10));
        longest = Math.max(longest, performance.now() - begin);
      }
    } while (longest > 50);
    await versionIs('v2');
    expect(rules.limiters).toHaveProperty('sms');
    expect(reported()).toEqual(['loaded v1', 'loaded v2']);
  });

  test('with problems, or deleted, leaves the last good version active and reports once', async () => {
    const file = join(folder, 'limits.yaml');
    await writeFile(file, text(1));
    rules = await loadRules(file, { every: '100ms' });
    await replaceFile(file, 'rules: 5');
    await eventually(async () => rules!.problem !== undefined);
    expect(isRulesError(rules.problem)).toBe(true);
    expect(rules.problem!.message).toBe(`${file}:1:8: rules must be a list of rules, not 5`);
    expect(rules.version).toBe('v1');
    await rm(file);
    await eventually(async () => messages.at(-1)!.result === 'unreadable');
    expect(rules.problem!.message).toBe(`rules of ${file}: there is no such file`);
    await replaceFile(file, 'rules: 5');
    await eventually(async () => messages.at(-1)!.result === 'refused');
    await rules.reload();
    expect((await rules.limiter('api').consume('ann')).limit).toBe(1);
    await replaceFile(file, text(3));
    await versionIs('v3');
    expect(rules.problem).toBeUndefined();
    expect(reported()).toEqual(['loaded v1', 'refused v1', 'unreadable v1', 'refused v1', 'loaded v3']);
  });

  test('must exist at the start, unless there is a fallback', async () => {
    const file = join(folder, 'limits.yaml');
    expect(isRulesSourceError(await rejection(loadRules(file)))).toBe(true);
    expect(String(await rejection(loadRules(folder)))).toMatch(/it is no file/);
    rules = await loadRules(file, { every: '100ms', fallback: text(7) });
    expect(rules.version).toBe('v7');
    expect(isRulesSourceError(rules.problem)).toBe(true);
    await replaceFile(file, text(1));
    await versionIs('v1');
    expect(reported()).toEqual(['unreadable v7', 'loaded v1']);
  });
});
