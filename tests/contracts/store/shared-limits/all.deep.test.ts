import { momentsContract } from './moments.suite.js';
import { settingContract } from './setting.suite.js';
import { memoryFleet, redisFleet, sqliteFleet } from './setup.js';
import { takingContract } from './taking.suite.js';

/** `SharedLimiter`, whose limit lives in the store: the same in memory, in a file and in Redis. */
describe.each([memoryFleet, redisFleet, sqliteFleet])('shared limits in $name', (kind) => {
  momentsContract(kind);
  settingContract(kind);
  takingContract(kind);
});
