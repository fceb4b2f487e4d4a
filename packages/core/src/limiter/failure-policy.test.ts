import { fixedWindow } from '../algorithms/fixed-window/fixed-window.js';
import { StoreUnavailableError } from '../errors.js';
import { compileFailurePolicy, type FailurePolicy } from './failure-policy.js';
import { RateLimiter } from './rate-limiter.js';

const error = new StoreUnavailableError('out', { reason: 'BUSY' });

test.each(['local', 'allow', 'deny'] as const)('the word %s is the choice, with the whole limit', (word) => {
  const { choose, share } = compileFailurePolicy('here', 'login', word);
  expect([choose(error), share]).toEqual([word, 1]);
});

test('the default is local, with the whole limit', () => {
  const { choose, share } = compileFailurePolicy('here', 'login');
  expect([choose(error), share]).toEqual(['local', 1]);
});

test('a share is local with a part of the limit', () => {
  const { choose, share } = compileFailurePolicy('here', 'login', { local: { share: 0.25 } });
  expect([choose(error), share]).toEqual(['local', 0.25]);
});

test('a function receives the reason, and chooses for each call', () => {
  const policy = jest.fn(({ reason }) => (reason === 'BUSY' ? ('allow' as const) : ('deny' as const)));
  const { choose } = compileFailurePolicy('here', 'login', policy);
  expect(choose(error)).toBe('allow');
  expect(choose(new StoreUnavailableError('out'))).toBe('deny');
  expect(policy).toHaveBeenCalledWith({ reason: 'BUSY', error, limiter: 'login' });
});

test('rethrows an error of the function, and throws for an unknown choice', () => {
  const { choose } = compileFailurePolicy('here', 'login', ({ error: reason }) => {
    throw reason;
  });
  expect(() => choose(error)).toThrow(error);
  const wrong = compileFailurePolicy('here', 'login', (() => 'maybe') as never);
  expect(() => wrong.choose(error)).toThrow(
    /here: the function failurePolicy returned "maybe".*'local', 'allow' or 'deny'/,
  );
});

test.each<[unknown, RegExp]>([
  ['open', /must be 'local', 'allow', 'deny', .* not "open"/],
  [null, /not null/],
  [1, /not 1/],
  [[], /takes an options object/],
  [{ locale: { share: 1 } }, /has no option 'locale'/],
  [{}, /failurePolicy.local takes an options object/],
  [{ local: {} }, /share must be above 0 and at most 1.*not undefined/],
  [{ local: { share: 0 } }, /not 0/],
  [{ local: { share: 1.5 } }, /not 1.5/],
  [{ local: { share: Number.NaN } }, /not NaN/],
  [{ local: { shares: 1 } }, /has no option 'shares'/],
])('rejects the failure policy %p at construction', (failurePolicy, message) => {
  const policy = fixedWindow({ limit: 1, window: '1s' });
  expect(() => new RateLimiter({ policy, failurePolicy: failurePolicy as FailurePolicy })).toThrow(message);
});
