import { policies } from './harness.js';

/** Every algorithm by its name, for tests that do something with each. */
export const kinds = Object.fromEntries(
  Object.entries(policies).map(([name, policyOf]) => [name, { policyOf }]),
);
