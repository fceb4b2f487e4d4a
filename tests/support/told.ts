import type { StoreFailure } from '../../packages/core/src/index.js';

/** The failure policy of tests that want to see the error. */
export const told = ({ error }: StoreFailure): never => {
  throw error;
};
