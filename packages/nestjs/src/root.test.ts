import { isLimiterClosedError } from '@sluice/core';
import { CountLimit } from '@sluice/decorators';
import { SluiceRoot } from './root.js';

class Service {
  @CountLimit({ limit: 100 })
  async work() {
    return 'done';
  }
}

test('an application that closes twice leaves the decorated methods of another one open', async () => {
  const [one, other] = [new SluiceRoot({}), new SluiceRoot({})];
  await one.onApplicationShutdown();
  await one.onApplicationShutdown();
  expect(await new Service().work()).toBe('done');
  await other.onApplicationShutdown();
  expect(isLimiterClosedError(await new Service().work().catch((error: unknown) => error))).toBe(true);
});
