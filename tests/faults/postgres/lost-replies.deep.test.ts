import { setTimeout as sleep } from 'node:timers/promises';
import { isStoreUnavailableError } from '../../../packages/core/src/index.js';
import { eventually } from '../../support/eventually.js';
import { TcpProxy } from '../../support/redis/tcp-proxy.js';
import { closeLater, ownPostgres, storeAt, takenOf, takeOf } from './servers.js';

const LIMIT = 1_000_000;
/** The least number of calls, and of lost replies. */
const [CALLS, LOST] = [150, 11];

test('a call whose reply is lost after COMMIT rejects, and is never repeated', async () => {
  const { port, url } = await ownPostgres();
  const proxy = await TcpProxy.start(port);
  closeLater(() => proxy.close());
  const through = new URL(url);
  through.port = String(proxy.port);
  const store = storeAt(through.href);
  await store.connect();
  const take = takeOf(store, LIMIT, 'k');
  proxy.resetEvery(23);
  let [answered, calls] = [0, 0];
  const errors: unknown[] = [];
  for (; calls < CALLS || proxy.lostReplies < LOST; calls += 1) {
    try {
      await take();
      answered += 1;
    } catch (error) {
      errors.push(error);
      await sleep(60); // until it connects again
    }
  }
  proxy.resetEvery(0);
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.every(isStoreUnavailableError)).toBe(true);
  const certain = errors.filter((error) => isStoreUnavailableError(error) && error.neverSent).length;
  const other = storeAt(url);
  const taken = await eventually(() => takenOf(other, LIMIT, 'k').catch(() => undefined));
  // An answered call is kept. A call that is certainly not kept is not. Of the others, each is kept at most once.
  expect(taken).toBeGreaterThanOrEqual(answered);
  expect(taken).toBeLessThanOrEqual(calls - certain);
});
