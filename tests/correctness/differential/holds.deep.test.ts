import { seedOf } from '../../support/random.js';
import { compareHolds } from './holds-check.js';
import { DEEP_RUNS } from './runs.js';

test(`Lua holds and settles as TypeScript does, over ${DEEP_RUNS} histories`, async () => {
  await compareHolds(DEEP_RUNS, seedOf(1_000));
}, 3_600_000);
