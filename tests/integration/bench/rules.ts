// Both entries of the package in one file, so that each class has one copy.
export * from '../../../packages/rules/src/index.js';
export * from '../../../packages/rules/src/simulate/index.js';
