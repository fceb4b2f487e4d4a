import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Decision,
  type DegradedEvent,
  type FailurePolicy,
  fixedWindow,
  isStoreUnavailableError,
  type Policy,
  RateLimiter,
  type RecoveredEvent,
  type RedisStore,
  type StoreErrorEvent,
  type UnavailableReason,
} from '../../packages/core/src/index.js';
import { uniqueName } from '../support/redis-url.js';
import { told } from '../support/told.js';
import { eventually, LIMIT, rejection } from './own-redis.js';
import { type FaultRow, record } from './table.js';

/** Something that makes a store unavailable from its beginning to its end. */
export interface Ordeal extends Pick<FaultRow, 'group' | 'fault'> {
  readonly store: RedisStore;
  /** Several are asked together, of which the first has a limit of `LIMIT` or as given. Default: one. */
  readonly policies?: (limit: number) => Readonly<Record<string, Policy>>;
  /** Of all keys: a key on the node of a cluster that it is about. */
  readonly hashTag?: string;
  begin(): unknown;
  /** What holds while the store is known to be out. */
  meanwhile?(): unknown;
  end(): unknown;
  /** One of these is what callers are told. */
  readonly reasons: readonly UnavailableReason[];
  /** What the client says of its connection, where that is the reason. */
  readonly connectionError?: RegExp;
  /** Has what was counted before been lost when it is over? Default false. */
  readonly forgets?: boolean;
  /** May calls that were not answered have been counted, each once? Default false: none of them has reached the server's data. */
  readonly mayCount?: boolean;
  /** Is there no before: was the server never there? Default false. */
  readonly fromTheStart?: boolean;
}

const DEADLINE_MS = 100;
/** What a busy machine may add. */
const SLACK_MS = 900;
/** A tenth of this is what is promised; an answer that waited for the network would take the deadline. */
const KNOWN_MS = 50;
const SMALL = 3;

const POLICIES = {
  local: 'local',
  allow: 'allow',
  deny: 'deny',
  thrown: told,
} satisfies Record<string, FailurePolicy>;
type Name = keyof typeof POLICIES;
const NAMES = Object.keys(POLICIES) as Name[];

const ANSWERS = {
  local: { allowed: true, degraded: true, source: 'local' },
  allow: { allowed: true, degraded: true, source: 'allow' },
  deny: { allowed: false, degraded: true, source: 'deny' },
};

/**
 * Lives through a fault with a limiter for each failure policy on one store, and expects what every fault has in common: each caller is
 * answered by his policy and in time, also before the store is known to be out; nothing is counted twice or late; Redis decides
 * again by itself. What was measured is recorded.
 */
export async function endure(ordeal: Ordeal): Promise<void> {
  const { store, reasons, forgets = false, mayCount = false, fromTheStart = false } = ordeal;
  const degraded: DegradedEvent[] = [];
  const recovered: RecoveredEvent[] = [];
  const errors: StoreErrorEvent[] = [];
  store.on('storeError', (event) => errors.push(event));
  store.on('degraded', (event) => degraded.push(event)).on('recovered', (event) => recovered.push(event));

  const limiterFor = (failurePolicy: FailurePolicy, limit = LIMIT) =>
    new RateLimiter({
      name: uniqueName('ordeal'),
      policies: ordeal.policies?.(limit) ?? { only: fixedWindow({ limit, window: '1h' }) },
      store,
      failurePolicy,
      deadline: DEADLINE_MS,
      ...(ordeal.hashTag === undefined ? {} : { hashTag: ordeal.hashTag }),
    });
  const limiters = Object.fromEntries(NAMES.map((name) => [name, limiterFor(POLICIES[name])])) as Record<
    Name,
    RateLimiter
  >;
  const small = limiterFor('local', SMALL);
  const answerOf = async (name: Name, key: string): Promise<number> => {
    const start = performance.now();
    if (name === 'thrown') {
      const error = await rejection(limiters.thrown.consume(key));
      expect(isStoreUnavailableError(error) && reasons.includes(error.reason) ? 'as told' : error).toBe(
        'as told',
      );
    } else {
      expect(await limiters[name].consume(key)).toMatchObject(ANSWERS[name]);
    }
    return performance.now() - start;
  };
  const countedAt = async (key: string): Promise<number> => {
    let sum = 0;
    for (const name of NAMES) {
      const { remaining } = await fromRedis(() => limiters[name].peek(key));
      sum += LIMIT - remaining;
    }
    return sum;
  };

  if (!fromTheStart) for (const name of NAMES) await fromRedis(() => limiters[name].consume('k'));
  const before = fromTheStart ? 0 : await countedAt('k');
  await ordeal.begin();

  const first: number[] = [];
  while (degraded.length === 0) {
    expect(first.length).toBeLessThan(100);
    first.push(await answerOf(NAMES[first.length % NAMES.length]!, 'k'));
    await sleep(0); // events are told between the calls
  }
  expect(Math.max(...first)).toBeLessThan(DEADLINE_MS + SLACK_MS);
  expect(reasons).toContain(degraded[0]!.reason);

  const known: number[] = [];
  for (let round = 0; round < 10; round += 1) {
    for (const name of NAMES) known.push(await answerOf(name, 'known'));
  }
  expect(median(known)).toBeLessThan(KNOWN_MS);
  let passed = 0;
  for (let call = 0; call < SMALL + 3; call += 1) passed += (await small.consume('k')).allowed ? 1 : 0;
  expect(passed).toBe(SMALL);
  for (const call of [
    limiters.deny.acquire('known'),
    limiters.allow.reset('known'),
    limiters.local.penalty('known'),
  ]) {
    const error = await rejection(call);
    expect(isStoreUnavailableError(error) ? 'unavailable' : error).toBe('unavailable');
  }

  await ordeal.meanwhile?.();

  await ordeal.end();
  const ended = performance.now();
  while (recovered.length === 0) {
    expect(performance.now() - ended).toBeLessThan(20_000);
    await limiters.local.consume('after');
    await sleep(5);
  }
  const recovery = performance.now() - ended;
  const counted = await countedAt('k');
  const kept = forgets ? 0 : before;
  expect(counted).toBeGreaterThanOrEqual(kept);
  expect(counted).toBeLessThanOrEqual(kept + (mayCount ? first.length : 0));
  expect(await countedAt('known')).toBe(0);
  // Told once for each change, not for each call.
  expect([degraded.length, recovered.length]).toEqual([1, 1]);
  const whys = errors.map(({ reason }) => reason);
  expect(
    whys.filter((reason, i) => reason !== whys[i - 1] && reasons.includes(reason as UnavailableReason)),
  ).toEqual(whys);
  if (ordeal.connectionError !== undefined) {
    expect(String(degraded[0]!.connectionError)).toMatch(ordeal.connectionError);
  }

  record({
    group: ordeal.group,
    fault: ordeal.fault,
    seen: `\`${degraded[0]!.reason}\`: the failure policy`,
    first: Math.max(...first),
    known: median(known),
    counted: `${counted - kept} of ${first.length} unanswered${forgets ? '; earlier counts are lost' : ''}`,
    recovered: recovery,
  });
}

/** A decision of Redis, however long a busy machine takes for one. */
export const fromRedis = (ask: () => Promise<Decision>): Promise<Decision> =>
  eventually(async () => {
    const decision = await ask();
    if (decision.source !== 'redis') throw new Error(`decided by ${decision.source}`);
    return decision;
  });

export const median = (numbers: readonly number[]): number =>
  [...numbers].sort((a, b) => a - b)[numbers.length >> 1]!;
