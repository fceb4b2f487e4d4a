import { Stop } from './stop.js';

const reasonOf = (signal: AbortSignal) => (signal.aborted ? signal.reason : 'not aborted');

test.each([
  ['before', true],
  ['after', false],
])('a signal that is read %s it is aborted has the reason, given by the caller or by abort', (_, early) => {
  const caller = new AbortController();
  const [byCaller, byAbort] = [new Stop(caller.signal), new Stop(undefined)];
  if (early) expect([byCaller.signal.aborted, byAbort.signal.aborted]).toEqual([false, false]);
  caller.abort('caller');
  byAbort.abort('closed');
  expect([reasonOf(byCaller.signal), reasonOf(byAbort.signal)]).toEqual(['caller', 'closed']);
  expect([byCaller.reason, byAbort.reason]).toEqual(['caller', 'closed']);
  expect(() => byAbort.throwIfAborted()).toThrow('closed');
});

test('the first reason stays', () => {
  const caller = new AbortController();
  const stop = new Stop(caller.signal);
  stop.abort('closed');
  caller.abort('caller');
  expect([stop.reason, reasonOf(stop.signal)]).toEqual(['closed', 'closed']);
});

test('after its end the caller aborts nothing', () => {
  const caller = new AbortController();
  const stop = new Stop(caller.signal);
  const { signal } = stop;
  stop.end();
  caller.abort('caller');
  expect(signal.aborted).toBe(false);
});
