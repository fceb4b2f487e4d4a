/** @jest-config-loader esbuild-register */
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Config } from 'jest';

/** Jest runs CommonJS; swc turns each file into it, with the decorators that the file's name stands for. */
const swc = (decorators: Record<string, unknown>): [string, Record<string, unknown>] => [
  '@swc/jest',
  {
    swcrc: false,
    sourceMaps: 'inline',
    module: { type: 'commonjs' },
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', decorators: true },
      transform: decorators,
    },
  },
];

/** Tests that take long: `x.deep.test.ts`. Every other `x.test.ts` is part of `npm test`. */
const DEEP = '\\.deep\\.(legacy\\.)?test\\.ts$';
/** Tests that run once with each dialect of decorators: standard in `quick`, legacy in `legacy`. */
const DIALECTS = '\\.dialects\\.test\\.ts$';
const IGNORED = ['/node_modules/', '/dist/'];

const standard = swc({ decoratorVersion: '2022-03' });
const legacy = swc({ legacyDecorator: true, decoratorMetadata: true });

/** Where random cases do not come from fast-check but from `TEST_SEED`. Mutants need the histories that find them. */
const SEEDED = [
  'tests/correctness/{differential,exactness,race,simulate}/**/!(*mutants).deep.test.ts',
  'tests/faults/soak/**/*.deep.test.ts',
  'tests/simulation/fleet.deep.test.ts',
  'tests/integration/cluster/many-keys-moving.deep.test.ts',
];
const sources = readdirSync(join(__dirname, 'packages')).map((name) => `packages/${name}/src`);
const properties = [...sources, 'tests'].flatMap((folder) =>
  readdirSync(join(__dirname, folder), { recursive: true, encoding: 'utf8' })
    .map((file) => `${folder}/${file}`)
    .filter((file) => file.endsWith('.test.ts') && !file.includes('mutants'))
    .filter((file) => readFileSync(join(__dirname, file), 'utf8').includes("from 'fast-check'")),
);
const setUp = ['<rootDir>/tests/support/no-warnings.ts', '<rootDir>/tests/support/fixed-seed.ts'];

const project = {
  testEnvironment: '<rootDir>/tests/support/environment.ts',
  testEnvironmentOptions: {
    customExportConditions: ['@sluice/source', 'node', 'node-addons', 'require', 'default'],
  },
  globalSetup: '<rootDir>/tests/support/redis/global-setup.ts',
  globalTeardown: '<rootDir>/tests/support/redis/global-teardown.ts',
  setupFilesAfterEnv: setUp,
  transform: {
    '\\.legacy(\\.test)?\\.ts$': legacy,
    '\\.c?ts$': standard,
  },
  resolver: '<rootDir>/tests/support/resolver.cjs',
};

const config: Config = {
  testTimeout: 120_000,
  testSequencer: '<rootDir>/scripts/longest-first.mjs',
  // Many tests wait for child processes and timers, so three workers are faster than two even on two cores.
  maxWorkers: Math.max(3, availableParallelism() - 1),
  projects: [
    {
      ...project,
      displayName: 'quick',
      testRegex: '(packages/.*/src|tests|examples)/.*\\.test\\.ts$',
      testPathIgnorePatterns: [...IGNORED, DEEP],
    },
    {
      ...project,
      displayName: 'legacy',
      globals: { legacyDecorators: true },
      transform: { '\\.c?ts$': legacy },
      testRegex: DIALECTS,
      testPathIgnorePatterns: IGNORED,
    },
    { ...project, displayName: 'deep', testRegex: DEEP, testPathIgnorePatterns: IGNORED },
    // `npm run test:random`: new cases each time. No part of `npm test` or `npm run test:deep`.
    {
      ...project,
      displayName: 'random',
      testMatch: [...SEEDED, ...properties].map((file) => `<rootDir>/${file}`),
    },
  ],
};

export default config;
