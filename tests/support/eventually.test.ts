import { eventually } from './eventually.js';
import { within } from './within.js';

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['setImmediate'] });
});
afterEach(() => {
  jest.useRealTimers();
});

test('eventually returns the first result that is neither undefined nor false', async () => {
  const results = [undefined, false, 0];
  const found = eventually(async () => results.shift());
  await jest.advanceTimersByTimeAsync(50);
  expect(await found).toBe(0);
});

test.each([0, 25])(
  'after 40 s the error shows the function and its last result (pause %d)',
  async (pause) => {
    const looking = eventually(async () => false, pause);
    const error = looking.catch(({ message }: Error) => message);
    await jest.advanceTimersByTimeAsync(40_000);
    expect(await error).toMatch(/^Waited 40 s in vain: async ?\(\) ?=> ?false\nreturned false$/);
    expect(jest.getTimerCount()).toBeLessThanOrEqual(1);
    await jest.advanceTimersByTimeAsync(100);
    expect(jest.getTimerCount()).toBe(0);
  },
);

test('a look that never ends is an error too', async () => {
  const error = eventually(() => new Promise(() => {})).catch(({ message }: Error) => message);
  await jest.advanceTimersByTimeAsync(40_000);
  expect(await error).toContain('returned undefined');
});

test('an error of the look is the error', async () => {
  await expect(eventually(() => Promise.reject(new Error('no server')))).rejects.toThrow('no server');
  expect(jest.getTimerCount()).toBe(0);
});

test('within says what was missing', async () => {
  expect(await within(Promise.resolve(7), 'a number')).toBe(7);
  const error = within(new Promise(() => {}), 'the socket closes', 1_000).catch((cause) => cause);
  await jest.advanceTimersByTimeAsync(1_000);
  expect(await error).toMatchObject({ message: 'Waited 1 s in vain: the socket closes' });
});
