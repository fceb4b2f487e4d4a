// Both entries of the package in one file, so that it has one copy of each class.
export * from '../../../packages/rules/src/index.js';
export * from '../../../packages/rules/src/simulate/index.js';
