import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as core from '@sluice/core';
import { parseRules } from '@sluice/rules';
import { compilePolicy, policyKinds, policyText } from '../../../packages/core/src/algorithms/index.js';
import type { PolicyKind } from '../../../packages/core/src/algorithms/policy-kind.js';
import { fieldsOf, formOf, policyOf } from '../../../website/playground/policies.js';
import { conformances } from '../../support/conformance/all.js';

const root = resolve(__dirname, '../../..');
const folder = join(root, 'packages/core/src/algorithms');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** Pages with a row or a link for each algorithm. */
const PAGES = ['docs/choosing.md', 'docs/rules.md', 'packages/core/README.md'];

const kinds: readonly PolicyKind[] = policyKinds;

test('each folder of an algorithm is in the list', () => {
  const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  // The states of holds have operations of their own, and no policy.
  const policies = folders.filter(({ name }) => name !== 'hold');
  expect(policies.map(({ name }) => name).sort()).toEqual(kinds.map(({ page }) => page).sort());
});

test('the suites know each algorithm, and each suite each mode', () => {
  for (const { name, holds, policies, random, oracles = {}, contests = {}, subjects } of conformances) {
    expect(Object.keys(policies)[0]).toBe(name);
    const parts = [policies, random, subjects, ...(holds ? [] : [oracles, contests])];
    for (const part of parts)
      expect(Object.keys(part).filter((mode) => mode.startsWith(name))).not.toEqual([]);
  }
});

test.each(kinds.map((kind) => [kind.name, kind] as const))('%s is known everywhere', (name, kind) => {
  expect((core as Record<string, unknown>)[name]).toBe(kind.create);
  expect(existsSync(join(folder, kind.page, 'README.md'))).toBe(true);
  const isNamed = new RegExp(`^- Tags: .*\\b${name}\\b`, 'm').test(read('docs/operations.md'));
  const missing = PAGES.filter((page) => !read(page).includes(`\`${name}`));
  expect(isNamed ? missing : [...missing, 'docs/operations.md, the line of tags']).toEqual([]);

  // The factory accepts the described options, and no others.
  const create = kind.create as (options: object) => core.Policy;
  const accepted = Object.keys(kind.options).join(', ');
  expect(() => create({ zzzzzzzz: 1 })).toThrow(`its options are ${accepted}`);

  const { policies } = conformances.find((record) => record.name === name)!;
  const { algorithm } = compilePolicy(policies[name]!('1h'));
  expect(algorithm.prefetch !== undefined).toBe(kind.prefetches !== undefined);

  // What the playground begins with is a policy, in code and in a document of rules.
  const form = formOf(name as core.Policy['algorithm'] as never);
  const policy = policyOf(form);
  expect(policy.algorithm).toBe(name);
  expect(compilePolicy(policy).limit).toBeGreaterThan(0);
  const given = fieldsOf(form.algorithm).filter(({ value }) => value !== '');
  const options = Object.fromEntries(
    given.map(({ name, value }) => [name, Number.isNaN(Number(value)) ? value : Number(value)]),
  );
  const rules = { rules: [{ name: 'one', limit: { [name]: options } }] };
  expect(parseRules(JSON.stringify(rules)).rules).toHaveLength(1);
  expect(policyText(policy)).toMatch(/^\d+ [^{}]+$/);
});
