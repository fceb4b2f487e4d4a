import { fixedWindow, memoryStore, RateLimiter, redisStore } from '../index.js';

const policy = fixedWindow({ limit: 1, window: '1m' });
const missing = Object.assign(new Error("Cannot find module '@sluice/fleet/internal'"), {
  code: 'MODULE_NOT_FOUND',
});
const mockFleet = jest.fn();
jest.mock('#platform', () => ({ ...jest.requireActual('#platform'), fleet: () => mockFleet() }));

test.each<[string, () => unknown]>([
  ['memoryStore: usage', () => memoryStore({ usage: true })],
  ['redisStore: usage', () => redisStore({ url: 'redis://127.0.0.1:1', usage: true })],
  ['redisStore: denials', () => redisStore({ url: 'redis://127.0.0.1:1', denials: true })],
  ["RateLimiter 'api': notify", () => new RateLimiter({ name: 'api', policy, notify: ['80%'] })],
])('%s names the package to install if it is missing', (option, open) => {
  mockFleet.mockReturnValue({ cause: missing });
  expect(open).toThrow(TypeError);
  expect(open).toThrow(`${option} needs the package @sluice/fleet: install it (npm install @sluice/fleet)`);
});

test('a package that cannot run in a bundle is named with its error', () => {
  mockFleet.mockReturnValue({ cause: new Error('dynamic require is not supported') });
  expect(() => memoryStore({ usage: true })).toThrow(
    /needs the package @sluice\/fleet: dynamic require is not supported\. In a bundle, leave it outside/,
  );
});

test('a program without these options does not load it', async () => {
  mockFleet.mockClear();
  const store = memoryStore();
  const limiter = new RateLimiter({ name: 'api', policy, store });
  await limiter.consume('k');
  await limiter.close();
  await store.close();
  expect(mockFleet).not.toHaveBeenCalled();
});
