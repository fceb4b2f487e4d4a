import { RulesConflictError } from '@sluice/rules';
import { cliErrorOf } from './cli-error.js';

test('a push that comes second has changed nothing: the exit code is 1', () => {
  const latest = { number: 2, version: 42, id: 'x', at: 0, by: 'ann@web' };
  const { message, exitCode } = cliErrorOf(new RulesConflictError('shop', 1, latest), 'Redis');
  expect([message, exitCode]).toEqual([expect.stringContaining('version 2 of ann@web'), 1]);
});
