import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as core from '@sluice/core';
import { policyKinds } from '../../../packages/core/src/algorithms/index.js';
import { packagesFolder } from './import-graph.js';

// A change of these lists is a change of the public API: name it in CHANGELOG.md. What our own packages share is exported by
// `@sluice/core/internal`, `@sluice/http` and `@sluice/fleet/internal`.

/** Each algorithm has a factory, and types of its options and its policy. */
const factories = policyKinds.map(({ name }) => name);
const capitalized = factories.map((name) => name[0]!.toUpperCase() + name.slice(1));

const VALUES = `
  ${factories.join(' ')} tokenBucketOfRate
  RateLimiter CombinedLimiter LimiterFactory SharedLimiter
  memoryStore redisStore recommendedRedisOptions recommendedClusterOptions storageKey
  LimitType clientIp ManualClock systemClock subscribe hashKey
  SluiceError RateLimitExceededError RequestForbiddenError StoreUnavailableError StoreConfigurationError KeyResolutionError
  RateNotSetError LimiterClosedError
  isSluiceError isRateLimitExceededError isRequestForbiddenError isStoreUnavailableError isStoreConfigurationError
  isKeyResolutionError isRateNotSetError isLimiterClosedError`;

const TYPES = `
  Policy ${capitalized.map((name) => `${name}Options ${name}Policy`).join(' ')}
  BaseLimiter LimiterBaseOptions RateLimiterOptions LimiterKey CombinedKeys LimiterFactoryOptions LimiterPolicies
  Cost Duration ConsumeOptions DecisionOptions WaitOptions AcquireOptions WrapOptions ScheduledTask TaskContext Reservation
  Decision PolicyDecision DecisionDebug PolicyDebug StateDebug StateView BucketView WindowView LogView HoldersView LeaseView
  FailurePolicy FailureChoice StoreFailure PrefetchOptions EscalateOptions UnavailableReason ConfigurationReason
  SharedLimiterOptions SharedRate SharedRateConfig
  MemoryStore MemoryStoreOptions RedisStore RedisStoreOptions RedisAddress RedisClient RedisClientOptions RedisClientSettings
  RedisClusterOptions RedisSentinelOptions RedisServerOptions NodeRedisClient
  CallResult DecisionMessage EscalatedMessage HoldMessage LeaseMessage LimitedPart PauseMessage RefundMessage RulesMessage StoreCallMessage TelemetryChannel TelemetryMessages
  ThresholdMessage
  KeyCount NotifyOptions StoreUsage Threshold TopKeys UsageKeys UsageOptions
  WarningCode WarningMessage
  Store StoreEvents StoreErrorEvent StoreHealth DegradedEvent RecoveredEvent
  Algorithm Rule Limit SharedKeys Decider StoreCaller Operation Call Part Answer PartAnswer RateChange StoredRate Clock ClientIpOptions`;

/** The types of `@sluice/http` that each adapter re-exports. */
const OF_REQUESTS = `
  HeaderStyle HttpProblem OneOfLimits OwnLimiter Policies RateLimitProblem Reply RequestLimitOptions RequestRules RequestView UserOf`;

const names = (list: string): string[] => list.trim().split(/\s+/).sort();

test('core exports these values', () => {
  expect(Object.keys(core).sort()).toEqual(names(VALUES));
});

const source = (file: string) => readFileSync(join(packagesFolder, file), 'utf8');

test('core exports these types', () => {
  const exporting = source('core/src/index.ts') + source('core/src/algorithms/list.ts');
  const types = [...exporting.matchAll(/^export (type )?\{([^}]*)\}/gm)].flatMap(([, all, list]) =>
    list!.split(',').flatMap((item) => {
      const [, type, name] = /^\s*(type )?(?:\w+ as )?(\w+)\s*$/.exec(item) ?? [];
      return name !== undefined && (all ?? type) !== undefined ? [name] : [];
    }),
  );
  const whole = ['decision', 'errors', 'telemetry/messages']
    .map((file) => source(`core/src/${file}.ts`))
    .join('');
  const others = [...whole.matchAll(/^export (?:type|interface) (\w+)/gm)].map(([, name]) => name!);
  expect([...types, ...others].sort()).toEqual(names(TYPES));
});

/** The packages that limit requests of a framework. */
const ADAPTERS = readdirSync(packagesFolder).filter((name) => {
  const index = join(packagesFolder, name, 'src/index.ts');
  return existsSync(index) && /\bRequestLimitOptions\b/.test(readFileSync(index, 'utf8')) && name !== 'http';
});

test.each(ADAPTERS)('%s exports the types of requests', (adapter) => {
  const [, list] = /^export type \{([^}]*)\} from '@sluice\/http'/m.exec(source(`${adapter}/src/index.ts`))!;
  expect(list!.split(',').flatMap((name) => name.trim() || [])).toEqual(names(OF_REQUESTS));
});
