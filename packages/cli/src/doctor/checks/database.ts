import { deploymentCheck } from '../check.js';
import { messageOf } from '../refusal.js';

/** Can the database be selected? */
export const database = deploymentCheck({
  about: 'database',
  why: {
    'database-refused':
      'Calls reject with StoreConfigurationError: counting in database 0 instead would be wrong.',
    'database-in-cluster': 'A cluster has database 0 only.',
  },
  compare({ nodes, database: number, kind }, report) {
    if (number === 0) return;
    const inCluster =
      kind === 'cluster' || nodes.some(({ info }) => info.optional('cluster_enabled') === '1');
    if (inCluster) {
      report.error(
        'database-in-cluster',
        `The connection selects database ${number}`,
        'Leave the number out.',
      );
      return;
    }
    const refusal = nodes.find(({ databaseFailure }) => databaseFailure !== undefined);
    if (refusal === undefined) report.ok(`database ${number}`);
    else
      report.error(
        'database-refused',
        `${refusal.name} refuses SELECT ${number}: ${messageOf(refusal.databaseFailure)}`,
        'Use database 0, raise databases in redis.conf, or grant +select.',
      );
  },
});
