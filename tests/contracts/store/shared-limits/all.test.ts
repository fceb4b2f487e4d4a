import { momentsContract } from './moments.suite.js';
import { settingContract } from './setting.suite.js';
import { memoryFleet, redisFleet } from './setup.js';
import { takingContract } from './taking.suite.js';

/** `SharedLimiter`, whose limit lives in the store: the same in memory and in Redis. */
describe.each([memoryFleet, redisFleet])('shared limits in $name', (kind) => {
  momentsContract(kind);
  settingContract(kind);
  takingContract(kind);
});
