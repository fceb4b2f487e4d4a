import { redisUrl } from '../../support/redis-url.js';
import { UpstashDouble } from '../../support/upstash.js';
import { storeContract } from './all.suite.js';
import { REPRESENTATIVES } from './harness.js';
import { upstash } from './openers.js';

let double: UpstashDouble;
beforeAll(async () => {
  double = await UpstashDouble.start(redisUrl());
});
afterAll(() => double.stop());

storeContract({ ...upstash(() => double), algorithms: REPRESENTATIVES });
