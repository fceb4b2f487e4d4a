import { StoreUnavailableError } from '@sluice/core';
import { RulesConflictError } from '@sluice/rules';
import { cliErrorOf } from './cli-error.js';

test('a push that comes second has changed nothing: the exit code is 1', () => {
  const latest = { number: 2, version: 42, id: 'x', at: 0, by: 'ann@web' };
  const { message, exitCode } = cliErrorOf(new RulesConflictError('shop', 1, latest), 'Redis');
  expect([message, exitCode]).toEqual([expect.stringContaining('version 2 of ann@web'), 1]);
});

test.each([
  ['OOM', "OOM command not allowed when used memory > 'maxmemory'.", /memory is full/],
  [
    'READONLY',
    "READONLY You can't write against a read only replica.",
    /replica: give the address of the primary/,
  ],
  ['BUSY', 'BUSY Redis is busy running a script.', /SCRIPT KILL/],
] as const)('a server that answers %s is not reported as silent', (reason, text, remedy) => {
  const {
    message,
    remedy: given,
    exitCode,
  } = cliErrorOf(new StoreUnavailableError(text, { reason }), 'redis://host');
  expect([message, given, exitCode]).toEqual([
    `redis://host cannot do this now: ${text}`,
    expect.stringMatching(remedy),
    2,
  ]);
});
