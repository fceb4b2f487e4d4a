import { type Source, Streams } from './streams.js';

const open = (streams: Streams, source: Source) => streams.open(source, new AbortController().signal);

afterEach(() => jest.useRealTimers());

test('a client that is too far behind loses its stream, and the unsent bytes are dropped', async () => {
  const stop = jest.fn();
  const response = open(new Streams(), (send) => {
    for (let i = 0; i < 5; i += 1) send('a', 'x'.repeat(1_000_000));
    return stop;
  });
  await expect(response.text()).rejects.toThrow('The client does not read');
  expect(stop).toHaveBeenCalledTimes(1);
});

test('close drops what a client has not read five seconds later', async () => {
  jest.useFakeTimers();
  const streams = new Streams();
  const [reads, stalls] = [1, 2].map(() =>
    open(streams, (send) => {
      send('a', 1);
      return () => {};
    }),
  );
  streams.close();
  expect(await reads!.text()).toBe('event: a\ndata: 1\n\n');
  jest.advanceTimersByTime(5_000);
  await expect(stalls!.text()).rejects.toThrow('The client does not read');
});
