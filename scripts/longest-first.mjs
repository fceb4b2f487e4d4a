import { existsSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import Sequencer from '@jest/test-sequencer';

// Jest remembers how long a file took, but not on a machine where it never ran: there it goes by the size of files, and the longest run
// last, one beside an idle worker.

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** The longest suites, by falling time. One that is not here is put where Jest would put it. */
const LONGEST = [
  'tests/contracts/adapters/counting.test.ts',
  'tests/contracts/store/redis.test.ts',
  'tests/contracts/store/memory.test.ts',
  'tests/integration/docs/documents.test.ts',
  'tests/integration/cluster/cluster.test.ts',
  'tests/integration/website/site.deep.test.ts',
  'tests/integration/consumers/consumers.deep.test.ts',
  'tests/simulation/fleet.deep.test.ts',
  'tests/integration/consumers/installing.deep.test.ts',
  'tests/integration/cli/servers.deep.test.ts',
  'tests/integration/fleet/board.deep.test.ts',
  'packages/dashboard/src/page.deep.test.ts',
  'tests/contracts/store/ioredis-clients.deep.test.ts',
  'tests/contracts/store/upstash.deep.test.ts',
  'tests/integration/edge/edge.deep.test.ts',
  'tests/contracts/store/node-redis-clients.deep.test.ts',
  'examples/payment-client/trial/demo.deep.test.ts',
  'tests/correctness/race/slow/one-server.deep.test.ts',
  'tests/correctness/differential/twins.deep.test.ts',
  'tests/contracts/store/postgres.deep.test.ts',
  'tests/correctness/simulate/redis.deep.test.ts',
  'tests/integration/cluster/many-keys-moving.deep.test.ts',
  'tests/integration/examples/examples.deep.test.ts',
  'tests/integration/docs/pictures.deep.test.ts',
  'tests/correctness/race/slow/failure-policy.deep.test.ts',
  'tests/correctness/differential/mutants.deep.test.ts',
  'tests/integration/cli/cli.deep.test.ts',
  'tests/correctness/exactness/prefetch.deep.test.ts',
  'tests/integration/cli/copy.deep.test.ts',
  'packages/fleet/src/usage/space-saving.deep.test.ts',
  'tests/integration/cli/upstreams.deep.test.ts',
  'tests/correctness/race/race.deep.test.ts',
  'tests/security/request-targets.deep.test.ts',
  'tests/integration/outgoing/limits-of-others.deep.test.ts',
  'tests/faults/postgres/bloat.deep.test.ts',
  'tests/faults/soak/slow/soak.deep.test.ts',
  'tests/integration/cli/rules.deep.test.ts',
  'tests/integration/recipes/graphql.deep.test.ts',
  'tests/security/least-privilege/least-privilege.deep.test.ts',
  'tests/correctness/exactness/exactness.deep.test.ts',
  'tests/integration/fleet/denials.deep.test.ts',
  'packages/dashboard/src/data.deep.test.ts',
  'tests/security/cardinality.deep.test.ts',
  'tests/integration/simulate/hostile.deep.test.ts',
  'tests/simulation/mutants.deep.test.ts',
  'packages/outgoing/src/accounts.deep.test.ts',
  'packages/rules/src/document/mutations.deep.test.ts',
];
for (const file of LONGEST) {
  if (!existsSync(join(ROOT, file)))
    throw new Error(`scripts/longest-first.mjs names ${file}, which is gone`);
}

const rankOf = ({ path }) => {
  const rank = LONGEST.indexOf(relative(ROOT, path).split(sep).join('/'));
  return rank === -1 ? LONGEST.length : rank;
};

export default class LongestFirst extends Sequencer {
  sort(tests) {
    return super.sort(tests).sort((a, b) => rankOf(a) - rankOf(b));
  }
}
