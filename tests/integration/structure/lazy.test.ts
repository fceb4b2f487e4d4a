import type * as Core from '@sluice/core';
import type * as Internal from '@sluice/core/internal';
import type * as Http from '@sluice/http';

/** Packages that were loaded, in order. The factory of a mock runs when its package is loaded. */
const loaded: string[] = [];
const observed = (name: string) => () => {
  loaded.push(name);
  return jest.requireActual(name);
};

test('jsonpath-plus loads with the first wide path, and negotiator with the first negotiated denial', () => {
  jest.doMock('jsonpath-plus', observed('jsonpath-plus'));
  jest.doMock('negotiator', observed('negotiator'));
  const { fixedWindow, RateLimiter } = require('@sluice/core') as typeof Core;
  const { compileKey } = require('@sluice/core/internal') as typeof Internal;
  const { RequestLimit, replyTo } = require('@sluice/http') as typeof Http;
  const policy = fixedWindow({ limit: 1, window: '1m' });
  new RateLimiter({ policy });
  new RequestLimit('rateLimit', { policy, key: '#{user.id}:#{body.items[0].id}' });
  expect(loaded).toEqual([]);

  const { resolve } = compileKey('#{items[*].id}');
  expect(loaded).toEqual(['jsonpath-plus']);
  expect(resolve(() => [{ id: 7 }])).toBe('7');

  const problem = { type: 'about:blank', title: 'Forbidden', status: 403, detail: 'Not served.' };
  replyTo(problem, '*/*');
  expect(loaded).toEqual(['jsonpath-plus']);
  expect(replyTo(problem, 'text/html').type).toBe('text/html; charset=utf-8');
  expect(loaded).toEqual(['jsonpath-plus', 'negotiator']);
});
