import { type RedisStore, redisStore } from '@sluice/core';
import { Redis } from 'ioredis';
import { eventually } from '../../../../tests/support/eventually.js';
import { redisUrl, uniqueName } from '../../../../tests/support/redis-url.js';
import { rejection } from '../../../../tests/support/rejection.js';
import {
  isRulesConflictError,
  isRulesError,
  type LoadedRules,
  loadRules,
  type StoredRules,
  storedRules,
} from '../index.js';
import { pointOf } from '../live/rollout.js';

const text = (limit: number, more = ''): string =>
  `version: v${limit}\nrules:\n  - { name: api, match: { path: /* }, key: '#{user.id}', limit: { fixedWindow: { limit: ${limit}, window: 1h } } }\n${more}`;

let store: RedisStore;
let client: Redis;
let source: StoredRules;
let rules: LoadedRules | undefined;

beforeEach(() => {
  store = redisStore(redisUrl());
  client = new Redis(redisUrl());
  source = storedRules(store, { name: uniqueName('t') });
});
afterEach(async () => {
  await rules?.close();
  rules = undefined;
  await store.close();
  const keys = await client.keys(`${source.key}*`);
  if (keys.length > 0) await client.del(keys);
  client.disconnect();
});

const versionIs = (version: string) => eventually(async () => rules!.version === version);
const view = (id: string) => ({ path: '/a', method: 'GET', user: { id }, header: () => undefined }) as never;
const limitOf = async (id: string) => (await rules!.decide(view(id))).decision!.limit;

test('a push loads at once by its message; a poll loads without a message', async () => {
  await source.push(text(1));
  rules = await loadRules(source, { store, every: '1h' });
  expect(rules.version).toBe('v1');
  await source.push(text(2));
  await versionIs('v2');
  await rules.close();
  rules = await loadRules(source, { store, every: '100ms' });
  // What another client pushes without a subscriber: the same, without a message.
  const [list, ...keys] = [await client.get(source.key), ...(await client.keys(`${source.key}:*`))];
  await source.push(text(3));
  await versionIs('v3');
  await client.set(source.key, list!);
  await versionIs('v2');
  expect(keys).toHaveLength(2);
});

test('a missing or foreign list of versions leaves the last good version active', async () => {
  await source.push(text(1));
  rules = await loadRules(source, { store });
  for (const [spoil, problem] of [
    [() => client.set(source.key, 'hello'), /a value of another program/],
    [() => client.del(source.key), /nothing is there: push rules with sluice push FILE/],
    [() => client.lpush(source.key, 'hello'), /WRONGTYPE/],
  ] as const) {
    await client.del(source.key);
    await spoil();
    await rules.reload();
    expect(rules.problem!.message).toMatch(problem);
    expect(await limitOf('ann')).toBe(1);
  }
  expect(String(await rejection(loadRules(source, { store })))).toMatch(/WRONGTYPE/);
  expect(String(await rejection(source.push(text(2))))).toMatch(/WRONGTYPE/);
  await client.del(source.key);
  await source.push(text(3));
  await rules.reload();
  expect([rules.version, rules.problem]).toEqual(['v3', undefined]);
});

test('an invalid text is not pushed, and not loaded if another program stored it', async () => {
  expect(isRulesError(await rejection(source.push('rules: []')))).toBe(true);
  expect(await source.versions()).toEqual([]);
  await source.push(text(1));
  rules = await loadRules(source, { store });
  const { id } = await source.push(text(2));
  await client.set(`${source.key}:${id}`, 'rules: []');
  await rules.reload(); // the message may have loaded the good text before
  await source.push(text(3));
  await versionIs('v3');
  const bad = await source.push(text(4));
  await client.set(source.key, (await client.get(source.key))!.replace(bad.id, 'elsewhere'));
  await client.set(`${source.key}:elsewhere`, 'rules: []');
  await rules.reload();
  expect(isRulesError(rules.problem)).toBe(true);
});

test('an evicted text is repaired by a push or rollback; a rollout needs the text before it', async () => {
  const [one, two] = [await source.push(text(1)), await source.push(text(2))];
  rules = await loadRules(source, { store });
  const evict = ({ id }: { id: string }) => client.del(`${source.key}:${id}`);
  await evict(two);
  expect((await source.kept()).map(({ number }) => number)).toEqual([1]);
  await client.publish(source.key, '1');
  await rules.reload();
  expect([rules.version, rules.problem]).toEqual(['v2', undefined]); // it has this version
  expect(String(await rejection(loadRules(source, { store })))).toMatch(
    /the text of version 2 is gone: Redis has evicted it, or it was deleted: push the rules again, or roll back/,
  );
  expect(String(await rejection(source.text(2)))).toMatch(/the text of version 2 is gone.*; there are 1$/);
  expect(String(await rejection(source.push(text(3, 'rollout: { percent: 5, by: key }\n'))))).toMatch(
    /a rollout needs a version before, and the text of version 2 is gone/,
  );
  expect(await source.rollback()).toMatchObject({ number: 3, rollbackTo: 1 });
  await versionIs('v1');
  await evict(one);
  expect(String(await rejection(source.rollback(1)))).toMatch(
    /the text of version 1 is gone.*; there are 3$/,
  );
  await source.push(text(4));
  await versionIs('v4');
});

test('a foreign list or text is checked field by field, and not transferred if it is large', async () => {
  const { id } = await source.push(text(1));
  const whole = { number: 1, id, by: 'ann', version: 'v1', rollbackTo: 1, percent: 5, before: 1 };
  const list = (fields: object) => client.set(source.key, `1 ${JSON.stringify({ ...whole, ...fields })}`);
  await list({});
  expect(await source.versions()).toMatchObject([whole]);
  const values: unknown[] = [null, {}, { toString: null }, [], -1, 0.5, true];
  for (const field of Object.keys(whole)) {
    for (const value of values) {
      if ((field === 'version' && typeof value === 'number') || (field === 'percent' && value === 0.5))
        continue;
      await list({ [field]: value });
      expect([field, value, String(await rejection(source.versions()))]).toEqual([
        field,
        value,
        expect.stringMatching(/a value of another program/),
      ]);
    }
  }
  await list({ percent: undefined });
  await client.set(`${source.key}:${id}`, 'x'.repeat(4_000_001));
  expect(String(await rejection(source.text(1)))).toMatch(
    /it has 4000001 bytes, and at most 4000000 are read/,
  );
  await client.set(source.key, 'x'.repeat(1_000_001));
  expect(String(await rejection(source.versions()))).toMatch(/it has 1000001 bytes/);
  await client.del(source.key);
  await expect(source.push(text(1), { by: 5 as never })).rejects.toThrow('push: by must be a text, not 5');
  await expect(source.push(text(1), { by: 'b'.repeat(1_001) })).rejects.toThrow(
    'push: by has 1001 characters',
  );
});

test('the author may have any characters, also separators of lines', async () => {
  const by = 'ann\n\r\u2028\u2029"\0';
  await source.push(text(1), { by });
  expect(await source.versions()).toMatchObject([{ by }]);
});

test('two concurrent pushes do not overwrite each other', async () => {
  await source.push(text(1), { by: 'ann', replaces: 0 });
  const pushes = [2, 3].map((limit) => source.push(text(limit), { by: `push ${limit}`, replaces: 1 }));
  const ended = await Promise.allSettled(pushes);
  const [lost] = ended.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
  expect(isRulesConflictError(lost!.reason)).toBe(true);
  expect(lost!.reason.message).toMatch(
    /the latest is version 2 of push [23], not version 1 any more; nothing was changed/,
  );
  expect((await source.versions()).map(({ number }) => number)).toEqual([2, 1]);
  // Without `replaces` both are stored, one after the other.
  await Promise.all([4, 5, 6].map((limit) => source.push(text(limit))));
  expect((await source.versions()).map(({ number }) => number)).toEqual([5, 4, 3, 2, 1]);
});

test('ten versions are kept, and rollback pushes an earlier version again', async () => {
  for (let limit = 1; limit <= 12; limit += 1) await source.push(text(limit));
  expect((await source.versions()).map(({ number }) => number)).toEqual([12, 11, 10, 9, 8, 7, 6, 5, 4, 3]);
  expect(await client.keys(`${source.key}:*`)).toHaveLength(10);
  expect(await source.rollback()).toMatchObject({ number: 13, version: 'v11', rollbackTo: 11 });
  expect(await source.rollback(5)).toMatchObject({ number: 14, version: 'v5', rollbackTo: 5 });
  await expect(source.rollback(2)).rejects.toThrow('there is no version 2; there are 14, 13, 12,');
  expect(await source.text(14)).toBe(text(5));
});

describe('a rollout', () => {
  const partly = (limit: number, percent: number) =>
    text(limit, `rollout: { percent: ${percent}, by: key }\n`);
  const users = Array.from({ length: 200 }, (_, i) => `user${i}`);
  const limits = () => Promise.all(users.map(limitOf));

  test('assigns callers by key, the same in every process, and never back while percent grows', async () => {
    await expect(source.push(partly(2, 10))).rejects.toThrow('a rollout needs a version before');
    await source.push(text(1));
    rules = await loadRules(source, { store });
    expect(new Set(await limits())).toEqual(new Set([1]));
    let before = users.map(() => 1);
    for (const percent of [5, 30, 70]) {
      await source.push(partly(2, percent));
      await rules.reload();
      const now = await limits();
      expect(now).toEqual(users.map((user) => (pointOf(user) < percent ? 2 : 1)));
      expect(now.every((limit, i) => limit >= before[i]!)).toBe(true);
      before = now;
      const another = await loadRules(source, { store });
      const same = await Promise.all(
        users.map(async (user) => (await another.decide(view(user))).decision!.limit),
      );
      expect(same).toEqual(now);
      await another.close();
    }
    expect(rules.limiter('api').policies).toMatchObject({ 'rules.api': { limit: 1 } }); // code has no key yet
    expect(await source.rollback()).toMatchObject({ rollbackTo: 1 });
    await source.push(partly(2, 70));
    await source.push(partly(3, 100));
    await rules.reload();
    expect(new Set(await limits())).toEqual(new Set([3]));
  });

  test('that is complete goes back to the version before it, also after many steps', async () => {
    await source.push(text(1));
    for (let percent = 10; percent < 100; percent += 10) await source.push(partly(2, percent));
    await source.push(text(2));
    rules = await loadRules(source, { store });
    expect(await source.rollback()).toMatchObject({ number: 12, version: 'v1', rollbackTo: 1 });
    await rules.reload();
    expect(new Set(await limits())).toEqual(new Set([1]));
    expect(await source.rollback()).toMatchObject({ number: 13, version: 'v2', rollbackTo: 11 }); // undoes the first
  });

  test('that was ended by a rollback goes on with the next one', async () => {
    await source.push(text(1));
    await source.push(partly(2, 30));
    expect(await source.rollback()).toMatchObject({ number: 3, rollbackTo: 1 });
    expect(await source.rollback()).toMatchObject({ number: 4, rollbackTo: 2, percent: 30, before: 3 });
  });

  test('of many steps keeps the version before it', async () => {
    await source.push(text(1));
    for (let percent = 1; percent <= 20; percent += 1) await source.push(partly(2, percent));
    const versions = await source.versions();
    expect(versions).toHaveLength(10);
    expect(versions.at(-1)).toMatchObject({ number: 1 });
    expect(versions[0]).toMatchObject({ percent: 20, before: 1 });
    rules = await loadRules(source, { store });
    expect(new Set(await limits())).toEqual(new Set([1, 2]));
    expect(await source.rollback()).toMatchObject({ rollbackTo: 1 });
  });
});

test('storedRules accepts only a store that processes share, and a valid name', () => {
  expect(() => storedRules({} as never)).toThrow('storedRules takes a redisStore(…)');
  expect(() => storedRules(store, { name: 'a b' })).toThrow('storedRules: name must be a name');
});
