import { fixedWindow } from '@sluice/core';
import { LimitInParts } from './limit-in-parts.js';

const one = { policy: fixedWindow({ limit: 1, window: '1m' }), keyGenerator: () => 'x' };
const left = (limit: LimitInParts, ...skipped: string[]) =>
  Object.keys(limit.without(skipped)?.limiters ?? {});

test.each<[string[], string[]]>([
  [[], ['default', 'long', 'short']],
  [['default'], ['long', 'short']],
  [['default', 'long'], ['short']],
  [['default.default'], ['long', 'short']],
  [['default', 'long', 'short'], []],
])('a limit with a part of its own name: skipping %j leaves %j', async (skipped, expected) => {
  const limit = new LimitInParts('limit', { limits: { default: one, long: one, short: one } });
  expect(left(limit, ...skipped)).toEqual(expected);
  await limit.close();
});

test('skipping the name of the whole limit leaves none of its parts', async () => {
  const limit = new LimitInParts('limit', { name: 'api', limits: { default: one, long: one } });
  expect(limit.without(['api'])).toBeUndefined();
  await limit.close();
});
