import { memoryStore, type RulesMessage, subscribe } from '@sluice/core';
import { eventually } from '../../../../tests/support/eventually.js';
import { farStore } from '../../../../tests/support/far-store.js';
import { rejection } from '../../../../tests/support/rejection.js';
import { isRulesError, type LoadedRules, loadRules, type RulesDocument } from '../index.js';

const text = (limit: number, version = `v${limit}`): string =>
  `version: ${version}\nrules:\n  - { name: api, match: { path: /* }, limit: { fixedWindow: { limit: ${limit}, window: 1h } } }\n`;

let rules: LoadedRules | undefined;
const messages: RulesMessage[] = [];
let stop: () => void;

beforeEach(() => {
  messages.length = 0;
  stop = subscribe('sluice:rules', (message) => void messages.push(message));
});
afterEach(async () => {
  stop();
  await rules?.close();
  rules = undefined;
});

const reported = () => messages.map(({ result, version }) => `${result} ${version}`);

describe('a function as a source', () => {
  test('is called repeatedly; an error or an invalid document is refused', async () => {
    let answer: () => string | RulesDocument = () => text(1);
    const limits = () => answer();
    rules = await loadRules(limits, { every: '100ms' });
    expect(rules.source).toBe('the function limits');
    answer = () => {
      throw new Error('no network');
    };
    await rules.reload();
    expect(rules.problem!.message).toBe('rules of the function limits: no network');
    answer = () => text(1);
    await rules.reload();
    answer = () => ({ version: 2, rules: [{ name: 'sms', limit: { gcra: { limit: 1, period: '1m' } } }] });
    await eventually(async () => rules!.version === 2);
    answer = () => 5 as never;
    await rules.reload();
    expect(rules.problem!.message).toMatch(/it returned 5; it must return a text or a document/);
    answer = () => `${text(4)}rollout: { percent: 10 }`;
    await rules.reload();
    expect(rules.problem!.message).toMatch(/^4:1: a rollout needs the version before/);
    expect(reported()).toEqual([
      'loaded v1',
      'unreadable v1',
      'loaded v1',
      'loaded 2',
      'unreadable 2',
      'refused 2',
    ]);
  });

  test('is called again soon after it failed', async () => {
    let failures = 0;
    rules = await loadRules(
      () => {
        if (failures === 0 || failures > 1) return text(failures + 1);
        failures += 1;
        throw new Error('no network');
      },
      { every: '1h' },
    );
    failures = 1;
    await rules.reload();
    expect(rules.problem!.message).toMatch(/no network/);
    await eventually(async () => rules!.version === 'v3');
    expect(rules.problem).toBeUndefined();
  });

  test('is aborted by close, which also ends a reload', async () => {
    const signals: AbortSignal[] = [];
    rules = await loadRules(({ signal }) => {
      signals.push(signal);
      return signals.length === 1 ? text(1) : new Promise<string>(() => {});
    });
    const reloaded = rules.reload();
    await rules.close();
    await reloaded;
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, true]);
    expect(reported()).toEqual(['loaded v1']);
  });

  test('makes loadRules reject if its first version is refused', async () => {
    expect(isRulesError(await rejection(loadRules(() => 'rules: []')))).toBe(true);
    await expect(loadRules(() => text(1), { every: '1ms' })).rejects.toThrow('loadRules: every must be');
    await expect(loadRules(() => text(1), { evry: '1s' } as never)).rejects.toThrow(
      "loadRules has no option 'evry'; did you mean 'every'?",
    );
    await expect(loadRules(5 as never)).rejects.toThrow('loadRules takes the path of a file');
  });
});

test('a first version that a Redis Cluster cannot decide is refused if there is a fallback', async () => {
  const together = (more: string) =>
    `${text(1)}  - { name: user, match: { path: /v1/* }, key: USER, limit: { gcra: { limit: 1, period: 1m } } }\n${more}`;
  let answer = together('');
  const { store } = farStore({ slotted: true });
  await expect(loadRules(() => answer, { store })).rejects.toThrow(/a Redis Cluster decides keys together/);
  rules = await loadRules(() => answer, { store, fallback: text(7) });
  expect([rules.version, rules.problem?.message]).toEqual(['v7', expect.stringMatching(/a Redis Cluster/)]);
  answer = together('hashTag: api\n');
  await rules.reload();
  expect([rules.version, rules.problem]).toEqual(['v1', undefined]);
  expect(reported()).toEqual(['refused v7', 'loaded v1']);
  await rules.close();
  await store.close();
});

test('a request decides under the version it began with, and removed rules stay open for it', async () => {
  let answer = text(1);
  const store = memoryStore();
  rules = await loadRules(() => answer, { store });
  const view = { path: '/a', method: 'GET', ip: '192.0.2.1', header: () => undefined } as never;
  const { enforced } = rules.match(view)!;
  answer =
    'version: 2\nrules: [{ name: other, match: { path: /* }, limit: { gcra: { limit: 9, period: 1m } } }]';
  await rules.reload();
  expect(rules.version).toBe(2);
  expect(await enforced!.consume(enforced!.keys as never)).toMatchObject({ allowed: true, limit: 1 });
  await rules.close();
  expect(() => enforced!.consume(enforced!.keys as never)).toThrow(/closed/);
  await store.close();
});
