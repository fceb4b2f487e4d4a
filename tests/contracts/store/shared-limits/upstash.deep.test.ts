import { redisUrl } from '../../../support/redis-url.js';
import { UpstashDouble } from '../../../support/upstash.js';
import { momentsContract } from './moments.suite.js';
import { settingContract } from './setting.suite.js';
import { upstashFleet } from './setup.js';
import { takingContract } from './taking.suite.js';

let double: UpstashDouble;
beforeAll(async () => {
  double = await UpstashDouble.start(redisUrl());
});
afterAll(() => double.stop());

const kind = upstashFleet(() => double);
momentsContract(kind);
settingContract(kind);
takingContract(kind);
