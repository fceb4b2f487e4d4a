import { setImmediate } from 'node:timers/promises';
import { currentRequest, enterRequest, runWithRequest } from './request-context.js';
import type { RequestView } from './views.js';

const [one, other] = [{ ip: '192.0.2.1' }, { ip: '192.0.2.2' }] as RequestView[];

test('runWithRequest sets the current request for its work, and for what the work starts', async () => {
  const later = runWithRequest(one!, async () => {
    await setImmediate();
    return currentRequest();
  });
  expect(currentRequest()).toBeUndefined();
  expect(await later).toBe(one);
});

test('enterRequest sets the current request for the rest of a hook, and of no other', async () => {
  const serve = async (request: RequestView) => {
    await setImmediate();
    enterRequest(request);
    await setImmediate();
    return currentRequest();
  };
  expect(await Promise.all([serve(one!), serve(other!)])).toEqual([one, other]);
  expect(currentRequest()).toBeUndefined();
});
