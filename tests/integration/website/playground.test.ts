import {
  ALGORITHMS,
  type AlgorithmName,
  codeOf,
  formOf,
  policyOf,
} from '../../../website/playground/policies.js';
import { run } from '../../../website/playground/run.js';
import { fromHash, stateOf, toHash } from '../../../website/playground/share.js';
import { momentsOf, TRAFFIC } from '../../../website/playground/traffic.js';

const names = Object.keys(ALGORITHMS) as AlgorithmName[];

test.each(names)('a link restores any input of the form of %s', (name) => {
  const { values } = formOf(name);
  const typed = Object.fromEntries(Object.keys(values).map((field) => [field, `&=#%"<${field}`]));
  const state = {
    policies: [formOf(name), { algorithm: name, values: typed }],
    traffic: { ...TRAFFIC, pattern: 'random', rate: '1e1', waits: true, timeout: '5s' } as const,
    clicks: [0, 1234],
  };
  expect(fromHash(`#${toHash(state)}`)).toEqual(state);
});

test.each(['', '#features', '#a=leftPad', '#traffic=bursts', '#a=__proto__'])(
  'the hash %j restores no state',
  (hash) => {
    expect(fromHash(hash)).toBeUndefined();
  },
);

test.each(names)('requests pass with the initial numbers of the form of %s', async (name) => {
  const { policies, traffic } = stateOf(name);
  const { requests, frames } = await run({
    policy: policyOf(policies[0]!),
    moments: momentsOf(traffic),
    length: 30_000,
    wait: undefined,
    holds: name === 'concurrency' ? 2000 : undefined,
  });
  const outcomes = new Set(requests.map(({ outcome }) => outcome));
  expect([requests.length, outcomes, frames.length]).toEqual([40, new Set(['passed', 'denied']), 301]);
  expect(codeOf(policies[0]!)).toMatch(new RegExp(`^${name}\\(\\{ \\w+: .* \\}\\)$`));
});

test('the error of core is shown for an invalid timeout', async () => {
  const policy = policyOf(formOf('gcra'));
  const wrong = run({ policy, moments: [1], length: 1000, wait: { timeout: 'soon' }, holds: undefined });
  await expect(wrong).rejects.toThrow('acquire: timeout must be a duration');
});

test('traffic has a length and a bound, and includes clicks', () => {
  const clicks = { ...TRAFFIC, pattern: 'clicks', length: '1' } as const;
  expect(momentsOf(clicks, [700, 5000, 3])).toEqual([3, 700]);
  expect(momentsOf({ ...TRAFFIC, pattern: 'steady', rate: '4', length: '1' })).toEqual([0, 250, 500, 750]);
  expect(momentsOf({ ...TRAFFIC, pattern: 'random' })).toHaveLength(60);
  expect(() => momentsOf({ ...TRAFFIC, pattern: 'steady', rate: '200', length: '600' })).toThrow(
    '120000 requests are too many to draw: at most 2000',
  );
  expect(() => momentsOf({ ...TRAFFIC, length: '' })).toThrow(
    "length must be a number from 1 to 600, not ''",
  );
});
