import { fixedWindow } from '@sluice/core';
import { rateLimit } from './index.js';

/** Warnings that this process has emitted, because each is emitted once. */
const emitted = (globalThis as { [slot: symbol]: unknown })[Symbol.for('sluice.warnings')] as Set<string>;
let emitWarning: jest.SpiedFunction<(message: string, options: { code: string }) => void>;

beforeEach(() => {
  emitted.clear();
  emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {}) as never;
});
afterEach(() => emitWarning.mockRestore());

const warnings = () => emitWarning.mock.calls.map(([text, { code }]) => `${code} ${text}`);

test('a limit created in a handler never denies, and causes a warning', async () => {
  const policy = fixedWindow({ limit: 1, window: '1h' });
  const serve = (request: Request) => rateLimit({ name: 'fetch', policy })(request, { ip: '192.0.2.1' });
  for (let i = 0; i < 4; i += 1) expect(await serve(new Request('http://localhost'))).toBeUndefined();
  expect(warnings()).toEqual([expect.stringMatching(/^SLUICE_LIMIT_PER_REQUEST rateLimit: limit 'fetch'/)]);
});

test('window: 60 causes a warning', () => {
  rateLimit({ policy: fixedWindow({ limit: 5, window: 60 }) });
  expect(warnings()).toEqual([
    "SLUICE_SHORT_WINDOW rateLimit: window: 60 of limit 'default' is 60 milliseconds. Write '60s' if you mean seconds, '60ms' if " +
      'you mean milliseconds',
  ]);
});
