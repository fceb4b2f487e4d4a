import { momentsContract } from './shared-limits-moments.js';
import { settingContract } from './shared-limits-setting.js';
import { memoryFleet, redisFleet } from './shared-limits-setup.js';
import { takingContract } from './shared-limits-taking.js';

/** `SharedLimiter`, whose limit lives in the store: the same in memory and in Redis. */
describe.each([memoryFleet, redisFleet])('shared limits in $name', (kind) => {
  momentsContract(kind);
  settingContract(kind);
  takingContract(kind);
});
