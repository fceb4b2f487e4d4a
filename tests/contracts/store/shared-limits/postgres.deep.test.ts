import { startsPostgres } from '../openers.js';
import { momentsContract } from './moments.suite.js';
import { settingContract } from './setting.suite.js';
import { postgresFleet } from './setup.js';
import { takingContract } from './taking.suite.js';

describe('shared limits in postgres', () => {
  startsPostgres();
  momentsContract(postgresFleet);
  settingContract(postgresFleet);
  takingContract(postgresFleet);
});
