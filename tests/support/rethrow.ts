import type { StoreFailure } from '../../packages/core/src/index.js';

/** A failure policy that shows the error to the test. */
export const rethrow = ({ error }: StoreFailure): never => {
  throw error;
};
